/** Tells readers of a stream that there may be something new: one connection a process, whatever the number of readers. */
import { type Listener, openListener } from '../connection/listener.ts';
import { STREAM_CHANNEL } from './streams.ts';

/** One stream while anybody reads it. */
export interface StreamTopic {
  /** Counts the changes heard of; what was read at one version may be shared with whoever is at the same. */
  readonly version: number;
  /**
   * Resolves to true as soon as the version is above `version`, to false after `milliseconds` or when `signal` aborts.
   */
  changed(version: number, milliseconds: number, signal: AbortSignal): Promise<boolean>;
  /** The reader is done. */
  leave(): void;
}

/** No stream's id: the entry that changes whenever any stream does. */
const ANY_STREAM = '*';

export interface StreamFeed {
  join(streamId: string): StreamTopic;
  /** Returns what changes whenever any stream does. */
  joinAny(): StreamTopic;
  /** Wakes every reader a last time and closes the connection; later changes are not heard. */
  close(): Promise<void>;
}

export interface StreamFeedOptions {
  url: string;
  /** PEM of the CA of the database server. */
  ca?: string | undefined;
  /** Every stream counts as changed this often, so that a lost notification costs no more. Default 2,000. */
  safetyMs?: number;
  /** Pause before a lost connection is made again. Default 1,000. */
  reconnectMs?: number;
}

interface Entry {
  readers: number;
  version: number;
  waiting: Set<() => void>;
}

/** Hears of changes by LISTEN; connects when the first reader comes and again whenever the connection is lost. */
export function openStreamFeed(options: StreamFeedOptions): StreamFeed {
  const { url, ca, safetyMs = 2_000, reconnectMs } = options;
  const entries = new Map<string, Entry>();
  let listener: Listener | null = null;
  let closed = false;

  const bump = (entry: Entry) => {
    entry.version += 1;
    const waiting = [...entry.waiting];
    entry.waiting.clear();
    for (const wake of waiting) wake();
  };
  const bumpAll = () => {
    for (const entry of entries.values()) bump(entry);
  };
  const safety = setInterval(bumpAll, safetyMs);
  safety.unref();

  const listen = () =>
    openListener({
      url,
      ca,
      name: 'muster-streams',
      channel: STREAM_CHANNEL,
      onNotification: (streamId) => {
        for (const id of [streamId, ANY_STREAM]) {
          const entry = entries.get(id);
          if (entry !== undefined) bump(entry);
        }
      },
      onConnected: bumpAll,
      ...(reconnectMs === undefined ? {} : { reconnectMs }),
    });

  const join = (streamId: string): StreamTopic => {
    if (!closed) listener ??= listen();
    const entry = entries.get(streamId) ?? { readers: 0, version: 0, waiting: new Set() };
    entry.readers += 1;
    entries.set(streamId, entry);
    let left = false;
    return {
      get version() {
        return entry.version;
      },
      changed: (version, milliseconds, signal) => waitForChange(entry, version, milliseconds, signal),
      leave: () => {
        if (left) return;
        left = true;
        entry.readers -= 1;
        if (entry.readers === 0 && entries.get(streamId) === entry) entries.delete(streamId);
      },
    };
  };

  return {
    join,
    joinAny: () => join(ANY_STREAM),
    close: async () => {
      closed = true;
      clearInterval(safety);
      bumpAll();
      await listener?.close();
    },
  };
}

function waitForChange(entry: Entry, version: number, milliseconds: number, signal: AbortSignal): Promise<boolean> {
  if (entry.version > version) return Promise.resolve(true);
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const finish = (result: boolean) => {
      clearTimeout(timer);
      entry.waiting.delete(wake);
      signal.removeEventListener('abort', abort);
      resolve(result);
    };
    const wake = () => finish(true);
    const abort = () => finish(false);
    const timer = setTimeout(abort, milliseconds);
    entry.waiting.add(wake);
    signal.addEventListener('abort', abort);
  });
}
