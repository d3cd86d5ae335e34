import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { LogController } from 'fastify';
import type { ApiServer } from '../api-server.ts';

/** What asks every few seconds and tells nothing when it is answered well. */
const PROBE = /^\/(livez|readyz)$/;
const ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The id of a request: the caller's where it is a plain word, else a new one. */
export function requestId(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && ID.test(given) ? given : randomUUID();
}

/** The framework's own lines show whole URLs, whose queries may hold secrets; ours replace them. */
export const quietLog = new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request' });

/** One line a request, without body, query or headers, with who asked where that is known; the id goes back in `X-Request-Id`. */
export function requestLog(app: ApiServer): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  app.addHook('onResponse', async (request, reply) => {
    if (request.isOverload) return;
    const path = request.url.replace(/[?#].*$/s, '').slice(0, 500);
    const who = request.actor === null ? {} : { actor: request.actor };
    const line = { method: request.method, path, status: reply.statusCode, ms: Math.round(reply.elapsedTime), ...who };
    const level = reply.statusCode >= 500 ? 'warn' : PROBE.test(path) ? 'debug' : 'info';
    request.log[level](line, 'request');
  });
}
