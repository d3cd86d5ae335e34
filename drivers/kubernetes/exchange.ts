/** Requests to a cluster, as they go over the wire. */
import type { IncomingMessage } from 'node:http';
import type { Answer, Outgoing as HttpOutgoing, Limits } from '../http/exchange.ts';
import { exchange as exchangeHttp, send as sendHttp } from '../http/exchange.ts';
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

/**
 * Sends a request and reads the answer, whatever its status.
 * Throws `LateAnswer`, and what breaks the connection.
 */
export async function exchange(access: Access, outgoing: Outgoing, limits: Limits): Promise<Answer> {
  return await exchangeHttp(to(access, outgoing), limits);
}

/** Returns an answer that may go on for ever, so it takes no connection from others; its body is still to be read. */
export async function send(access: Access, outgoing: Outgoing, signal: AbortSignal): Promise<IncomingMessage> {
  const { streams } = access;
  return await sendHttp({ ...to(access, outgoing), ...(streams === undefined ? {} : { agent: streams }) }, signal);
}

function to({ server, options }: Access, { method, path, query, body, accept, contentType }: Outgoing): HttpOutgoing {
  const search = new URLSearchParams(query).toString();
  const base = server.pathname.replace(/\/+$/, '');
  const type = body === undefined ? {} : { 'content-type': contentType ?? 'application/json' };
  return {
    ...options,
    protocol: server.protocol,
    host: server.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: server.port || (server.protocol === 'https:' ? 443 : 80),
    method,
    path: `${base}${path}${search === '' ? '' : `?${search}`}`,
    headers: { ...options.headers, accept, ...type },
    body,
  };
}
