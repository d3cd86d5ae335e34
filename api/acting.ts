import type { FastifyRequest } from 'fastify';
import type { Acting } from '../domain/access/acting.ts';
import type { ApiServer } from './server/api-server.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks, as it is stored with what they write; null where nobody is known. */
    actor: string | null;
    /** The trace that the request is part of, W3C's `traceparent`; null while tracing is off. */
    trace: string | null;
  }
}

/** Gives every request its `actor` and `trace`; the access check and the tracing fill them in. */
export function requestActor(app: ApiServer): void {
  app.decorateRequest('actor', null);
  app.decorateRequest('trace', null);
}

/** Returns who makes a request, for the writes that it asks for. */
export function acting(request: FastifyRequest): Acting {
  return { actor: request.actor, operation: request.operation?.id ?? null, trace: request.trace };
}
