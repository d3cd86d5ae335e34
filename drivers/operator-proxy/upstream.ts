/** Requests to the API server, with the operator's own credentials. */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Duplex, Readable } from 'node:stream';
import type { Header } from '../../domain/operator/proxy-headers.ts';
import type { RequestInfo } from '../../domain/operator/request-info.ts';
import type { ClusterAccess } from '../kubernetes/cluster-access.ts';
import { UNAUTHORIZED } from '../kubernetes/statuses.ts';
import { refusal } from './refusal.ts';

/** Until an answer begins, ms. The API server itself gives up after 60 s. */
const ANSWER_MS = 75_000;
/** It only hands these on, to servers that may think for long. */
const HANDED_ON_MS = 300_000;
/** A peer that is gone without a word is found out by this, ms. */
const KEEP_ALIVE_MS = 15_000;

export interface UpstreamRequest {
  method: string;
  /** Path and query as the client wrote them. */
  target: string;
  headers: readonly Header[];
}

/** A connection that was kept from an earlier request, and had been closed meanwhile. */
export class StaleConnection extends Error {
  override name = 'StaleConnection';
}

/** Begins a request; its body is still to be sent. Throws where the kubeconfig cannot be read. */
export async function beginRequest(access: ClusterAccess, request: UpstreamRequest): Promise<ClientRequest> {
  const { server, options, streams } = await access.read();
  const isTls = server.protocol === 'https:';
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of request.headers) {
    const lower = name.toLowerCase();
    const others = headers[lower];
    headers[lower] = others === undefined ? value : [others, value].flat();
  }
  const outgoing = (isTls ? httpsRequest : httpRequest)({
    ...options,
    ...(streams === undefined ? {} : { agent: streams }),
    host: server.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: server.port || (isTls ? 443 : 80),
    method: request.method,
    path: `${server.pathname.replace(/\/+$/, '')}${request.target}`,
    headers: { ...headers, ...(options.headers as Record<string, string> | undefined) },
  });
  outgoing.on('socket', (socket) => socket.setKeepAlive(true, KEEP_ALIVE_MS));
  return outgoing;
}

/** Returns how long an answer to a request may take to begin, ms. */
export function patienceFor(request: RequestInfo | null): number {
  const isHandedOn = request !== null && (request.subresource === 'proxy' || request.verb === 'proxy');
  return isHandedOn ? HANDED_ON_MS : ANSWER_MS;
}

/** An answer that has begun. */
export interface Begun {
  answer: IncomingMessage;
  /** Where the connection speaks another protocol now: it, and what came behind the answer. */
  upgraded: { server: Duplex; first: Buffer } | null;
}

/**
 * Returns the answer to a request, as soon as it begins. `upload`: a body on its way, which gives it more time.
 * Throws `Refusal` (504) where it does not begin in time, `StaleConnection`, and what breaks the connection.
 */
export async function answerTo(
  outgoing: ClientRequest,
  access: ClusterAccess,
  withinMs: number,
  upload?: Readable,
): Promise<Begun> {
  const { promise, resolve, reject } = Promise.withResolvers<Begun>();
  const timer = setTimeout(() => {
    reject(refusal(504, `the API server does not answer within ${withinMs / 1000} s`));
    outgoing.destroy();
    access.forget();
  }, withinMs);
  upload?.on('data', () => timer.refresh());
  outgoing.on('response', (answer) => resolve({ answer, upgraded: null }));
  outgoing.on('upgrade', (answer, server, first) => resolve({ answer, upgraded: { server, first } }));
  outgoing.on('error', (error) => {
    access.forget();
    reject(outgoing.reusedSocket ? new StaleConnection(error.message) : error);
  });
  outgoing.on('close', () => reject(new Error('the connection was closed')));
  const begun = await promise.finally(() => clearTimeout(timer));
  if (begun.answer.statusCode === UNAUTHORIZED) access.forget();
  return begun;
}
