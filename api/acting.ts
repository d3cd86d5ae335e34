import type { FastifyRequest } from 'fastify';
import type { ApiDependencies, ApiServer } from './dependencies.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks, as it is stored with what they write; null where nobody is known. */
    actor: string | null;
  }
}

/** Gives every request its `actor`; the access check fills it in. */
export function requestActor(app: ApiServer): void {
  app.decorateRequest('actor', null);
}

/** What a write needs: the dependencies, and who asks for it. */
export interface Acting extends ApiDependencies {
  actor: string | null;
  /** Id of the work under an `Idempotency-Key`, by which a create that is tried again after a crash knows its own record. */
  operation: string | null;
}

export function acting(deps: ApiDependencies, request: FastifyRequest): Acting {
  return { ...deps, actor: request.actor, operation: request.operation?.id ?? null };
}
