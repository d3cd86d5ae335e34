import type { IncomingMessage } from 'node:http';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isMusterError, MusterError, musterError } from '../../domain/errors.ts';
import type { Access, ClusterAccess } from './cluster-access.ts';
import { FORBIDDEN, GONE, UNAUTHORIZED } from './statuses.ts';

/** For one whole answer, ms. Loading the client library and reading the kubeconfig, which the first request does, count for neither limit. */
const ANSWER_MS = 8_000;
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

export interface ClusterRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the cluster's address: `/api/v1/...`. */
  path: string;
  query?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
  /** Of `body`; default: application/json. */
  contentType?: string;
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
  ): Promise<AsyncIterable<Buffer>>;
}

/** Plain requests to a cluster: what is sent and read is what stands, without typed models in between. */
export function createClusterClient(access: ClusterAccess): ClusterClient {
  const send = async (
    { server, options, streams }: Access,
    request: ClusterRequest,
    signal: AbortSignal,
    goesOn = false,
  ): Promise<IncomingMessage> => {
    signal.throwIfAborted();
    const payload = request.body === undefined ? undefined : JSON.stringify(request.body);
    const query = new URLSearchParams(request.query).toString();
    const base = server.pathname.replace(/\/+$/, '');
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const outgoing = (server.protocol === 'https:' ? httpsRequest : httpRequest)(
      {
        ...options,
        ...(goesOn && streams !== undefined ? { agent: streams } : {}),
        host: server.hostname.replace(/^\[(.*)\]$/, '$1'),
        port: server.port || (server.protocol === 'https:' ? 443 : 80),
        method: request.method,
        path: `${base}${request.path}${query === '' ? '' : `?${query}`}`,
        signal,
        headers: {
          ...options.headers,
          accept: 'application/json',
          ...(payload === undefined
            ? {}
            : {
                'content-type': request.contentType ?? 'application/json',
                // Without it the server ignores the body of a DELETE.
                'content-length': Buffer.byteLength(payload),
              }),
        },
      },
      resolve,
    );
    outgoing.on('error', reject);
    // Node tells this to a request only once it has a connection.
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    outgoing.end(payload);
    return await promise.finally(() => signal.removeEventListener('abort', abort));
  };

  const trouble = (request: ClusterRequest, words: string): MusterError =>
    musterError('cluster_unavailable', `${request.method} ${request.path}: ${words}`);

  /** What a broken exchange was broken by. */
  const broken = (request: ClusterRequest, error: unknown, late: boolean, ms: number): MusterError => {
    if (isMusterError(error)) return error;
    // Others of its age may be dead as well.
    access.forget();
    return trouble(request, late ? `no answer within ${ms / 1000} s` : wordsOfError(error));
  };

  const refused = async (request: ClusterRequest, answer: IncomingMessage): Promise<MusterError> => {
    const status = answer.statusCode ?? 0;
    if (status === UNAUTHORIZED) access.forget();
    const text = await textOf(answer, REFUSAL_MAX);
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
      let late: AbortSignal | undefined;
      try {
        const way = await access.read();
        late = AbortSignal.timeout(ANSWER_MS);
        const answer = await send(way, request, late);
        const status = answer.statusCode ?? 0;
        if (status >= 400 && !(request.expected ?? []).includes(status)) throw await refused(request, answer);
        return { status, body: JSON.parse(await textOf(answer)) as T };
      } catch (error) {
        throw broken(request, error, late?.aborted === true, ANSWER_MS);
      }
    },
    async open(path, query, signal, lastsMs = Number.POSITIVE_INFINITY) {
      const request: ClusterRequest = { method: 'GET', path, query };
      const late = new AbortController();
      let timer: NodeJS.Timeout | undefined;
      try {
        const way = await access.read();
        timer = setTimeout(() => late.abort(), OPEN_MS);
        const answer = await send(way, request, AbortSignal.any([signal, late.signal]), true);
        if (answer.statusCode === GONE) throw new HistoryGone(wordsOf(await textOf(answer, REFUSAL_MAX), false));
        if ((answer.statusCode ?? 0) >= 400) throw await refused(request, answer);
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

/** The text of an answer, or its first `most` bytes. */
async function textOf(answer: IncomingMessage, most = Number.POSITIVE_INFINITY): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= most) break;
  }
  return Buffer.concat(chunks).toString('utf8').slice(0, most);
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
