import type { FastifyRequest } from 'fastify';
import type { ApiDependencies, ApiServer } from './dependencies.ts';

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

/** What a write needs: the dependencies, and who asks for it. */
export interface Acting extends ApiDependencies {
  actor: string | null;
  /** Id of the work under an `Idempotency-Key`, by which a create that is tried again after a crash knows its own record. */
  operation: string | null;
  /** The trace that what it makes is to join. */
  trace: string | null;
}

export function acting(deps: ApiDependencies, request: FastifyRequest): Acting {
  return { ...deps, actor: request.actor, operation: request.operation?.id ?? null, trace: request.trace };
}
