/** The objects of one kind in a member cluster: what is there, and then each change, in one stream. */
import { StringDecoder } from 'node:string_decoder';
import type { ClusterAnswer, NoAnswer } from '../../domain/deployments/answer-class.ts';
import { listAt, type Members, membersOf, numberAt, textAt } from '../../domain/deployments/members.ts';
import { DEPLOYMENT_LABEL } from '../../domain/deployments/naming.ts';
import type { KindWatch, WatchEnd, WatchMessage } from '../../domain/deployments/ports.ts';
import type { Ask, Open, Said } from './calls.ts';

const META = 'g=meta.k8s.io;v=v1';
/** The server ends a watch after so long, s. */
const WATCH_SECONDS = 600;
/** A watch that is open so much longer has lost its server, ms. */
const LATE_MS = 10_000;
/** So long a server may say nothing, not even a bookmark, ms: a proxy may hold a connection that leads nowhere. */
const SILENT_MS = 90_000;
const LINE_MAX = 32 * 1024 * 1024;
const PAGE = 500;
const GONE = 410;
/** Answers of servers that cannot tell in a stream what is there. */
const NO_STREAMED_LIST = [400, 422];
const INITIAL_END = 'k8s.io/initial-events-end';

type Take = (message: WatchMessage) => Promise<void>;

/** Watches as `MemberCluster.watchKind` says. */
export async function watchKind(
  { ask, open }: { ask: Ask; open: Open },
  watch: KindWatch,
  take: Take,
  signal: AbortSignal,
): Promise<WatchEnd> {
  const stream = (query: Readonly<Record<string, string>>, version: string | null) =>
    follow(open, watch, { query, version }, take, signal);
  if (watch.after !== null) return await stream({ resourceVersion: watch.after }, watch.after);
  const told = await stream({ sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }, null);
  if (signal.aborted || !isUnlisted(told)) return told;
  const listed = await listPages(ask, watch, take, signal);
  if (typeof listed !== 'string') return listed;
  return await stream({ resourceVersion: listed }, listed);
}

/** Whether a stream told nothing of its end: the server cannot stream what is there, or does not say when that is whole. */
function isUnlisted({ version, failed }: WatchEnd): boolean {
  if (version !== null) return false;
  return failed === null || (!('noAnswer' in failed) && NO_STREAMED_LIST.includes(failed.httpStatus));
}

/** Tells of all that is there, page by page. Returns the version of the list, or why there is none. */
async function listPages(
  ask: Ask,
  { path, isMetadataOnly }: KindWatch,
  take: Take,
  signal: AbortSignal,
): Promise<string | WatchEnd> {
  const accept = isMetadataOnly ? `application/json;as=PartialObjectMetadataList;${META}` : 'application/json';
  let next = '';
  while (!signal.aborted) {
    const query = new URLSearchParams({ labelSelector: DEPLOYMENT_LABEL, limit: String(PAGE) });
    if (next !== '') query.set('continue', next);
    const page = await ask({ method: 'GET', path: `${path}?${query}`, accept, signal });
    // The list has grown too old while it was read.
    if (!('noAnswer' in page) && page.httpStatus === GONE && next !== '') return { version: null, failed: null };
    const failed = failureOf(page);
    if (failed !== null) return { version: null, failed };
    const { data } = page as Exclude<Said, NoAnswer>;
    for (const object of listAt(data, 'items')) await take({ is: 'there', object: membersOf(object) });
    next = textAt(data, 'metadata', 'continue');
    if (next !== '') continue;
    await take({ is: 'listed' });
    return textAt(data, 'metadata', 'resourceVersion');
  }
  return { version: null, failed: null };
}

function failureOf(said: Said): ClusterAnswer | NoAnswer | null {
  if ('noAnswer' in said) return said;
  const { data: _, ...answer } = said;
  return answer.httpStatus === 200 && answer.body?.kind === 'object' ? null : answer;
}

/** Follows one stream until it ends. */
async function follow(
  open: Open,
  { path, isMetadataOnly }: KindWatch,
  { query, version: first }: { query: Readonly<Record<string, string>>; version: string | null },
  take: Take,
  signal: AbortSignal,
): Promise<WatchEnd> {
  const given = { watch: '1', allowWatchBookmarks: 'true', timeoutSeconds: String(WATCH_SECONDS), ...query };
  const search = new URLSearchParams({ ...given, labelSelector: DEPLOYMENT_LABEL });
  const accept = isMetadataOnly ? `application/json;as=PartialObjectMetadata;${META}` : 'application/json';
  const lost = new AbortController();
  const silence = setTimeout(() => lost.abort(), SILENT_MS);
  const late = setTimeout(() => lost.abort(), WATCH_SECONDS * 1000 + LATE_MS);
  let version = first;
  try {
    const opened = await open({ path: `${path}?${search}`, accept }, AbortSignal.any([signal, lost.signal]));
    if ('failed' in opened) {
      // What is behind this version is not known there any more.
      const isGone = !('noAnswer' in opened.failed) && opened.failed.httpStatus === GONE;
      return isGone ? { version: null, failed: null } : { version, failed: opened.failed };
    }
    await take({ is: 'open' });
    const texts = lines(opened.stream, () => silence.refresh())[Symbol.asyncIterator]();
    for (;;) {
      const read = await nextOf(texts);
      if ('broken' in read) {
        // A stream that was silent, or open for too long, begins anew where it was.
        if (signal.aborted || lost.signal.aborted) return { version, failed: null };
        return { version, failed: { noAnswer: 'connection', message: String(read.broken) } };
      }
      if (read.text === null) return { version, failed: null };
      const event = parsed(read.text);
      const type = textAt(event, 'type');
      const object = membersOf(event.object);
      if (type === 'ERROR') return { version: null, failed: errorOf(object) };
      if (type === 'ADDED' || type === 'MODIFIED') await take({ is: 'there', object });
      else if (type === 'DELETED') await take({ is: 'gone', object });
      const told = textAt(object, 'metadata', 'resourceVersion');
      const isEnd = type === 'BOOKMARK' && textAt(object, 'metadata', 'annotations', INITIAL_END) === 'true';
      // What is there comes in no order of versions: before its end nothing can go on behind it.
      if (told !== '' && (version !== null || isEnd)) version = told;
      if (isEnd) await take({ is: 'listed' });
    }
  } finally {
    clearTimeout(silence);
    clearTimeout(late);
    lost.abort();
  }
}

/** What breaks the stream is no fault of the one who takes the messages. */
async function nextOf(texts: AsyncIterator<string>): Promise<{ text: string | null } | { broken: unknown }> {
  try {
    const { value, done } = await texts.next();
    return { text: done ? null : value };
  } catch (broken) {
    return { broken };
  }
}

/** A version that is not known any more is no failure: everything is listed again. */
function errorOf(status: Members): ClusterAnswer | null {
  const httpStatus = numberAt(status, ['code'], 500);
  if (httpStatus === GONE) return null;
  const { reason, message } = { reason: textAt(status, 'reason'), message: textAt(status, 'message') };
  return { httpStatus, retryAfter: null, body: { kind: 'status', reason, message, causes: [] } };
}

function parsed(text: string): Members {
  try {
    return membersOf(JSON.parse(text));
  } catch {
    return { type: 'ERROR', object: { code: 500, reason: 'NotKubernetes', message: 'a line of the watch is no JSON' } };
  }
}

/** Whole lines of a stream; what follows the last one is dropped with the connection. Throws what breaks the stream. */
async function* lines(stream: AsyncIterable<Buffer>, heard: () => void): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let parts: string[] = [];
  let size = 0;
  for await (const chunk of stream) {
    heard();
    const [first = '', ...others] = decoder.write(chunk).split('\n');
    parts.push(first);
    size += first.length;
    for (const other of others) {
      yield parts.join('');
      parts = [other];
      size = other.length;
    }
    if (size > LINE_MAX) throw new Error('a line of the watch is too long');
  }
}
