import type { IncomingMessage } from 'node:http';
import { isMusterError, MusterError, musterError } from '../../domain/errors.ts';
import { LateAnswer, readUpTo } from '../http/exchange.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { exchange, type Outgoing, send } from './exchange.ts';
import { FORBIDDEN, GONE, UNAUTHORIZED } from './statuses.ts';

/** For one whole answer, ms. Loading the client library and reading the kubeconfig, which the first request does, count for neither limit. */
const ANSWER_MS = 8_000;
const JSON_FORM = 'application/json';
/** Until a stream's first line, ms. */
const OPEN_MS = 5_000;
/** Of a refusal so much is read, bytes. */
const REFUSAL_MAX = 16 * 1024;
/** Kubernetes' words for a quota without room; they quote nothing of what was sent. */
const QUOTA = /exceeded quota: [^\s"]+, requested: [^\s"]+, used: [^\s"]*, limited: [^\s"]+/;
/** The cluster will say the same about the same request for ever. */
const FINAL = [400, 413, 422];

/** The cluster no longer knows the version from which on it was asked to tell. */
export class HistoryGone extends Error {
  override name = 'HistoryGone';
}

/** What an account of too few rights is answered, or beyond a quota; for others it is as good as no answer. */
class Forbidden extends MusterError {
  readonly quota: string | null;

  constructor(detail: string, quota: string | null) {
    super('cluster_unavailable', detail);
    this.quota = quota;
  }
}

/** Whether the cluster was there, and did not allow what it was asked for. */
export function isForbidden(error: unknown): error is MusterError {
  return error instanceof Forbidden;
}

/** The cluster's words when it refused what a quota has no room for, else null. */
export function quotaWords(error: unknown): string | null {
  return error instanceof Forbidden ? error.quota : null;
}

export interface ClusterRequest extends Pick<Outgoing, 'method' | 'path'> {
  query?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
  /** Of `body`; default: application/json. */
  contentType?: string;
  /** Media type of the answer, a form of JSON; default: application/json. */
  accept?: string;
  /** Statuses of refusals that the caller knows what to do with. */
  expected?: readonly number[];
  /** What is sent holds secrets: of a refusal only Kubernetes' reason is told. */
  secret?: boolean;
}

export interface ClusterClient {
  /**
   * Status and body of an answer.
   * @throws `cluster_unavailable` when there is no answer within 8 s or another refusal than expected;
   * `cluster_refused` when the same request would be refused for ever
   */
  ask<T>(request: ClusterRequest): Promise<{ status: number; body: T }>;
  /**
   * Opens an answer that goes on, until it ends or `signal`. It and reading it fail like `ask`; one that still goes on after
   * `lastsMs` (default: it may for ever) has lost its cluster.
   * @throws `HistoryGone`
   */
  open(
    path: string,
    query: Record<string, string>,
    signal: AbortSignal,
    lastsMs?: number,
    accept?: string,
  ): Promise<AsyncIterable<Buffer>>;
}

/** Plain requests to a cluster: what is sent and read is what stands, without typed models in between. */
export function createClusterClient(access: ClusterAccess): ClusterClient {
  const trouble = (request: ClusterRequest, words: string): MusterError =>
    musterError('cluster_unavailable', `${request.method} ${request.path}: ${words}`);

  /** What a broken exchange was broken by. */
  const broken = (request: ClusterRequest, error: unknown, late: boolean, ms: number): MusterError => {
    if (isMusterError(error)) return error;
    // Others of its age may be dead as well.
    access.forget();
    return trouble(request, late ? `no answer within ${ms / 1000} s` : wordsOfError(error));
  };

  const refused = (request: ClusterRequest, status: number, text: string): MusterError => {
    if (status === UNAUTHORIZED) access.forget();
    const said = wordsOf(text, request.secret === true);
    const words = `the cluster answered ${status}${said === '' ? '' : ` ${said}`}`;
    if (status === FORBIDDEN)
      return new Forbidden(`${request.method} ${request.path}: ${words}`, QUOTA.exec(text)?.[0] ?? null);
    if (!FINAL.includes(status)) return trouble(request, words);
    return musterError('cluster_refused', `${request.method} ${request.path}: ${words}`);
  };

  /** What comes; told apart from the errors of whoever takes it. */
  async function* read(
    request: ClusterRequest,
    answer: IncomingMessage,
    signal: AbortSignal,
    late: AbortController,
    lastsMs: number,
  ): AsyncGenerator<Buffer> {
    const chunks: AsyncIterator<Buffer> = answer[Symbol.asyncIterator]();
    const timer = Number.isFinite(lastsMs) ? setTimeout(() => late.abort(), lastsMs) : undefined;
    try {
      for (;;) {
        const next = await chunks.next().catch((error: unknown) => {
          // Whoever ends it by itself has nothing against the way to the cluster.
          if (!signal.aborted) access.forget();
          throw trouble(request, late.signal.aborted ? `no end within ${lastsMs / 1000} s` : wordsOfError(error));
        });
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      clearTimeout(timer);
      answer.destroy();
    }
  }

  return {
    async ask<T>(request: ClusterRequest) {
      const isRefusal = (status: number) => status >= 400 && !(request.expected ?? []).includes(status);
      try {
        const { status, bytes } = await exchange(await access.read(), outgoingOf(request), {
          withinMs: ANSWER_MS,
          mostBytes: (status) => (isRefusal(status) ? REFUSAL_MAX : Number.POSITIVE_INFINITY),
        });
        const text = bytes.toString('utf8');
        if (isRefusal(status)) throw refused(request, status, text);
        return { status, body: (status >= 400 ? refusalBody(text) : JSON.parse(text)) as T };
      } catch (error) {
        throw broken(request, error, error instanceof LateAnswer, ANSWER_MS);
      }
    },
    async open(path, query, signal, lastsMs = Number.POSITIVE_INFINITY, accept = JSON_FORM) {
      const request: ClusterRequest = { method: 'GET', path, query, accept };
      const late = new AbortController();
      let timer: NodeJS.Timeout | undefined;
      try {
        const way = await access.read();
        timer = setTimeout(() => late.abort(), OPEN_MS);
        const answer = await send(way, outgoingOf(request), AbortSignal.any([signal, late.signal]));
        const status = answer.statusCode ?? 0;
        if (status === GONE) throw new HistoryGone(wordsOf(await refusalOf(answer), false));
        if (status >= 400) throw refused(request, status, await refusalOf(answer));
        return read(request, answer, signal, late, lastsMs);
      } catch (error) {
        if (signal.aborted || error instanceof HistoryGone) throw error;
        throw broken(request, error, late.signal.aborted, OPEN_MS);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

function outgoingOf({ method, path, query, body, contentType, accept = JSON_FORM }: ClusterRequest): Outgoing {
  const json = body === undefined ? undefined : JSON.stringify(body);
  return { method, path, query, body: json, contentType, accept };
}

const refusalOf = async (answer: IncomingMessage): Promise<string> =>
  (await readUpTo(answer, REFUSAL_MAX)).bytes.toString('utf8');

/** A path that the server does not know at all has no object as its refusal. */
function refusalBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function wordsOfError(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}

/** Kubernetes' reason and sentence of a refusal; the sentence may quote what was sent. */
function wordsOf(text: string, secret: boolean): string {
  let status: { reason?: unknown; message?: unknown };
  try {
    status = JSON.parse(text) ?? {};
  } catch {
    return '';
  }
  const reason = typeof status.reason === 'string' ? status.reason : '';
  const message = typeof status.message === 'string' && !secret ? status.message : '';
  return [reason, message].filter((word) => word !== '').join(': ');
}
