import type { FastifyRequest } from 'fastify';
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

/** Who asks for a write, beside what the write works with. */
export interface Acting {
  actor: string | null;
  /** Id of the work under an `Idempotency-Key`, by which a create that is tried again after a crash knows its own record. */
  operation: string | null;
  /** The trace that what it makes is to join. */
  trace: string | null;
}

/** Returns `deps` with the caller of the request. */
export function acting<Deps extends object>(deps: Deps, request: FastifyRequest): Deps & Acting {
  return { ...deps, actor: request.actor, operation: request.operation?.id ?? null, trace: request.trace };
}
