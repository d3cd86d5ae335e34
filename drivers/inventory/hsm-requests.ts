/** Requests to a hardware state manager, and how their answers are taken apart. */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { exchange, toTarget } from '../http/exchange.ts';

export interface HsmOptions {
  /** Like `http://cray-smd/hsm/v2/`. */
  baseUrl: string;
  /** File with certificates to trust besides the public ones, PEM. */
  caFile?: string;
  /** Tries after the first one. Default 10 (cfs-flows 3.1). */
  retries?: number;
  /** Seconds; the nth retry waits factor x 2^(n-1), the first not at all, at most 120. Default 0.5. */
  backoffFactor?: number;
  /** Milliseconds without a byte after which a try counts as a failed connection. Default 30,000. */
  idleTimeoutMs?: number;
}

/** Largest answer that is read, bytes: the hardware of some 100,000 nodes is a tenth of it. */
const ANSWER_MAX = 256 * 1024 * 1024;
const RETRIED_STATUS = new Set([500, 502, 503, 504]);

/** Address of a path below the base. */
export function hsmUrl({ baseUrl }: HsmOptions, path: string): URL {
  return new URL(path, baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`);
}

/** The address as it may be told to anybody: without a user and password that it may have. */
export function shownUrl({ origin, pathname, search }: URL): string {
  return `${origin}${pathname}${search}`;
}

/** The answer, parsed; connections that fail and answers of an overloaded server are tried again. Throws the last failure. */
export async function getHsm(url: URL, options: HsmOptions, signal: AbortSignal): Promise<unknown> {
  const { caFile, retries = 10, backoffFactor = 0.5, idleTimeoutMs = 30_000 } = options;
  const ca = caFile === undefined ? undefined : await readFile(caFile, 'utf8');
  return getWithRetries(url, { ca, retries, backoffFactor, idleTimeoutMs, signal });
}

interface GetOptions {
  ca: string | undefined;
  retries: number;
  backoffFactor: number;
  idleTimeoutMs: number;
  signal: AbortSignal;
}

class TooLarge extends Error {}

class StatusError extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`status ${status}`);
    this.status = status;
  }
}

async function getWithRetries(url: URL, options: GetOptions): Promise<unknown> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return JSON.parse(await get(url, options));
    } catch (error) {
      options.signal.throwIfAborted();
      const isFinal =
        error instanceof SyntaxError ||
        error instanceof TooLarge ||
        (error instanceof StatusError && !RETRIED_STATUS.has(error.status));
      if (isFinal || attempt >= options.retries) throw error;
    }
    const seconds = attempt === 0 ? 0 : Math.min(120, options.backoffFactor * 2 ** attempt);
    await sleep(seconds * 1000, undefined, { signal: options.signal });
  }
}

async function get(url: URL, { ca, idleTimeoutMs, signal }: GetOptions): Promise<string> {
  const { status, bytes, isCut } = await exchange(
    { ...toTarget({ url, ca }), headers: { accept: 'application/json' } },
    { idleMs: idleTimeoutMs, signal, mostBytes: () => ANSWER_MAX },
  );
  if (status !== 200) throw new StatusError(status);
  if (isCut) throw new TooLarge(`an answer of more than ${ANSWER_MAX} bytes`);
  return bytes.toString('utf8');
}

export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

export function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new Error('the answer is not the expected list');
  return value;
}

export function text(value: unknown, name: string): string {
  const found = member(value, name);
  if (typeof found !== 'string') throw new Error(`an entry of the answer has no ${name}`);
  return found;
}

export function optionalText(value: unknown, name: string): string | undefined {
  const found = member(value, name);
  return typeof found === 'string' ? found : undefined;
}

/** The ids of an entry's members; a number is its text. Throws an Error that names the entry when they are no list of these. */
export function memberIds(value: unknown, name: string): string[] {
  const ids = member(member(value, 'members'), 'ids');
  if (!Array.isArray(ids)) throw new Error(`members.ids of the entry ${name} is ${kindOf(ids)}, not a list`);
  return ids.map((id) => {
    if (typeof id === 'string') return id;
    if (typeof id === 'number') return String(id);
    throw new Error(`members.ids of the entry ${name} holds ${kindOf(id)} in place of an id`);
  });
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'absent';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `a${typeof value === 'object' ? 'n object' : ` ${typeof value}`}`;
}
