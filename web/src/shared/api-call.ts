/** Calls of the HTTP API. Its base is where the page came from, so that a prefix of a proxy is kept. */
import { pathSegment } from './path-segment.ts';

/** Path of the installation, without slash at the end: the built files are in `/ui/assets/` below it. */
const ROOT_PATH = new URL(import.meta.url).pathname.replace(/\/ui\/assets\/[^/]*$/, '');
export const UI_PATH = `${ROOT_PATH}/ui`;

/** Routes of Muster itself, of version 3 of CFS, of placement, of the image service. */
export type Surface = '/api/v1' | '/v3' | '/v2' | '/apis/ims';

/** Returns the address of the API as this browser reaches it. */
export const apiBase = (surface: Surface = '/api/v1'): string => `${location.origin}${ROOT_PATH}${surface}`;

/** An answer that is none of 2xx. */
export class Refusal extends Error {
  readonly status: number;
  readonly title: string;
  readonly code: string;
  readonly requestId: string | null;
  /** Of a hostlist: characters before the mistake. */
  readonly position: number | null;

  constructor(status: number, problem: Problem, requestId: string | null) {
    super(problem.detail ?? problem.title ?? `The API answered ${status}`);
    this.status = status;
    this.title = problem.title ?? 'The request failed';
    this.code = problem.code ?? String(status);
    this.requestId = requestId;
    this.position = problem.position ?? null;
  }
}

interface Problem {
  title?: string;
  detail?: string;
  code?: string;
  position?: number;
}

/** Whether the API has said no, so that the same request would be refused again. */
export function isRefusal(error: unknown): error is Refusal {
  return error instanceof Refusal && error.status < 500 && error.status !== 429;
}

/** Whether the API does not know who asks. */
export function isUnknown(error: unknown): boolean {
  return error instanceof Refusal && error.status === 401;
}

interface Call {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Path of the routes below which `path` is; default: those of Muster itself. */
  surface?: Surface;
  /** Whether the answer is wanted as text. */
  isText?: boolean;
  /** Is told the tag of the record that is answered; null: it has none. */
  onTag?(tag: string | null): void;
}

/**
 * Calls a path of the API. Returns the body of the answer.
 * Throws `Refusal`, and what fetch throws when no answer comes.
 */
export async function callApi<Answer>(
  path: string,
  { method = 'GET', body, headers, signal, surface = '/api/v1', isText = false, onTag }: Call = {},
): Promise<Answer> {
  const answer = await fetch(`${ROOT_PATH}${surface}${path}`, {
    method,
    credentials: 'same-origin',
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(isText ? { accept: 'text/plain' } : {}),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  noteVersion(answer.headers.get('muster-version'));
  noteTime(answer.headers.get('date'));
  const text = await answer.text();
  if (isText && answer.ok) return text as Answer;
  const parsed = bodyOf(text, answer.ok);
  if (!answer.ok) throw new Refusal(answer.status, (parsed ?? {}) as object, answer.headers.get('x-request-id'));
  onTag?.(answer.headers.get('etag'));
  return parsed as Answer;
}

/** A proxy on the way says in its own words that no answer came. */
function bodyOf(text: string, isOk: boolean): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (isOk) throw error;
    return undefined;
  }
}

/** How far the server's clock is ahead of this one, ms. Answers say it to a second. */
let ahead = 0;

function noteTime(date: string | null): void {
  const time = Date.parse(date ?? '');
  if (!Number.isNaN(time)) ahead = Math.abs(time - Date.now()) < 2_000 ? 0 : time - Date.now();
}

/** Returns the time by the server's clock, ms since 1970: ages are of its times. */
export const serverNow = (): number => Date.now() + ahead;

/** Returns the headers of a write: the same key is the same request, however often it is sent. */
export function writeHeaders({ reason, key }: { reason: string; key: string }): Record<string, string> {
  return { 'idempotency-key': key, ...(reason === '' ? {} : { 'muster-reason': encodeURIComponent(reason) }) };
}

/** Returns the path of a record: its name is one segment, whatever is in it. */
export function recordPath(kind: string, name: string): string {
  return `/${kind}/${pathSegment(name)}`;
}

/** So long all answers must have had another version, ms: two servers of which one is newer do not count. */
const SETTLED_MS = 60_000;
let otherSince: number | null = null;
let isGone = false;
const listeners = new Set<() => void>();

function noteVersion(version: string | null): void {
  if (version === null) return;
  if (version === MUSTER_VERSION) otherSince = null;
  else if (otherSince === null) {
    otherSince = Date.now();
    // A page that follows what seldom changes asks nothing meanwhile.
    setTimeout(tellAll, SETTLED_MS);
  }
  tellAll();
}

/** Notes that a file of this page's build is not there any more. */
export function noteGone(): void {
  isGone = true;
  tellAll();
}

function tellAll(): void {
  for (const tell of listeners) tell();
}

/** Whether the servers are of another version than the page, for good. */
export const wasUpdated = (): boolean => isGone || (otherSince !== null && Date.now() - otherSince >= SETTLED_MS);

/** Tells `listener` after each answer. Returns what ends that. */
export function onAnswer(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
