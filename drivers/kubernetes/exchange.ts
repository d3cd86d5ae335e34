/** Requests to a cluster, as they go over the wire. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Access } from './cluster-access.ts';

export interface Outgoing {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the cluster's address: `/api/v1/...`. */
  path: string;
  query?: Record<string, string> | undefined;
  body?: string | undefined;
  /** Of `body`; default: application/json. */
  contentType?: string | undefined;
  /** Media type of the answer. */
  accept: string;
}

export interface Limits {
  /** From connecting to the last byte, ms. */
  withinMs: number;
  /** Of an answer of this status so much is read, bytes; the rest is left. */
  mostBytes(status: number): number;
}

/** A whole answer. */
export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

/** There was no whole answer in time. */
export class LateAnswer extends Error {
  override name = 'LateAnswer';
}

/**
 * Sends a request and reads the answer, whatever its status.
 * Throws `LateAnswer`, and what breaks the connection.
 */
export async function exchange(access: Access, outgoing: Outgoing, { withinMs, mostBytes }: Limits): Promise<Answer> {
  const late = AbortSignal.timeout(withinMs);
  try {
    const incoming = await send(access, outgoing, late);
    const status = incoming.statusCode ?? 0;
    return { status, headers: incoming.headers, bytes: await bytesOf(incoming, mostBytes(status)) };
  } catch (error) {
    throw late.aborted ? new LateAnswer(`no answer within ${withinMs / 1000} s`) : error;
  }
}

/**
 * Returns an answer whose body is still to be read.
 * @param goesOn whether it is one that may go on for ever: it takes no connection from others
 */
export async function send(
  { server, options, streams }: Access,
  outgoing: Outgoing,
  signal: AbortSignal,
  goesOn = false,
): Promise<IncomingMessage> {
  signal.throwIfAborted();
  const { method, body, accept, contentType = 'application/json' } = outgoing;
  const query = new URLSearchParams(outgoing.query).toString();
  const base = server.pathname.replace(/\/+$/, '');
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = (server.protocol === 'https:' ? httpsRequest : httpRequest)(
    {
      ...options,
      ...(goesOn && streams !== undefined ? { agent: streams } : {}),
      host: server.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: server.port || (server.protocol === 'https:' ? 443 : 80),
      method,
      path: `${base}${outgoing.path}${query === '' ? '' : `?${query}`}`,
      signal,
      headers: {
        ...options.headers,
        accept,
        // Without its length the server ignores the body of a DELETE.
        ...(body === undefined ? {} : { 'content-type': contentType, 'content-length': Buffer.byteLength(body) }),
      },
    },
    resolve,
  );
  request.on('error', reject);
  // Node tells this to a request only once it has a connection.
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  request.end(body);
  return await promise.finally(() => signal.removeEventListener('abort', abort));
}

/** Returns the bytes of an answer, or the first `most`. */
export async function bytesOf(incoming: IncomingMessage, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= most) break;
  }
  const bytes = Buffer.concat(chunks);
  return bytes.length > most ? bytes.subarray(0, most) : bytes;
}
