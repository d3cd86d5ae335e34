import { type ClusterClient, HistoryGone } from './cluster-client.ts';
import { GONE } from './statuses.ts';

/** The cluster ends a watch after so long, having told its version; s. So no watch is silent for longer. */
export const WATCH_SECONDS = 8;
/** A watch that is still open so long after that has lost its cluster, ms. */
const LATE_MS = 3_000;
const LINE_MAX = 8 * 1024 * 1024;

export interface WatchEvent<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  object: T;
}

interface Watch {
  path: string;
  labelSelector: string;
  version: string;
  /** How long it lasts, at most. */
  seconds?: number;
  /** Media type of the answer; default: application/json. */
  accept?: string;
  /** A watch that says nothing for so long (ms), no bookmark either, is begun anew; default: it may be silent until its end. */
  silentMs?: number;
}

interface Line {
  type: string;
  object: { code?: number; message?: string; metadata?: { resourceVersion?: string } };
}

/**
 * Watches from a version on for some seconds and answers the version up to which everything was told; null when the cluster no longer
 * knows it, so the list is to be read again. Throws when the way to the cluster breaks, or lets nothing pass any more.
 */
export async function watchOnce<T>(
  client: ClusterClient,
  { path, labelSelector, version, seconds = WATCH_SECONDS, accept, silentMs = Number.POSITIVE_INFINITY }: Watch,
  take: (event: WatchEvent<T>) => void,
  told: (version: string) => void,
  signal: AbortSignal,
): Promise<'resume' | 'relist'> {
  const silent = new AbortController();
  const timer = Number.isFinite(silentMs) ? setTimeout(() => silent.abort(), silentMs) : undefined;
  try {
    const query = {
      watch: '1',
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(seconds),
      labelSelector,
      resourceVersion: version,
    };
    const either = AbortSignal.any([signal, silent.signal]);
    const answer = await client.open(path, query, either, seconds * 1_000 + LATE_MS, accept);
    for await (const text of lines(answer)) {
      timer?.refresh();
      const { type, object } = JSON.parse(text) as Line;
      if (type === 'ERROR') {
        if (object.code === GONE) return 'relist';
        throw new Error(object.message ?? 'the watch was ended');
      }
      if (type !== 'BOOKMARK') take({ type, object } as WatchEvent<T>);
      const { resourceVersion } = object.metadata ?? {};
      if (resourceVersion !== undefined) told(resourceVersion);
    }
    return 'resume';
  } catch (error) {
    if (error instanceof HistoryGone) return 'relist';
    // The version up to which everything was told is known.
    if (silent.signal.aborted && !signal.aborted) return 'resume';
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Whole lines of a stream; what follows the last one is dropped with the connection. */
async function* lines(stream: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, at));
      yield Buffer.concat(parts).toString('utf8');
      parts = [];
      size = 0;
      from = at + 1;
    }
    parts.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > LINE_MAX) throw new Error('an object of the watch is too large');
  }
}
