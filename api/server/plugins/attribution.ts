import type { FastifyRequest } from 'fastify';
import { attributeWrites } from '../../../control/access/attribute-writes.ts';
import { REASON_HEADER, readReason } from '../../../domain/reason.ts';
import type { ApiServer } from '../api-server.ts';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** What a request writes is recorded with who asked, its id, its route and the reason that its header says. Comes after the access check and the reading of the body. */
export function attribution(app: ApiServer): void {
  app.addHook('preValidation', (request, _reply, done) => {
    if (READS.has(request.method)) return done();
    const via = `${request.method} ${request.routeOptions.url ?? ''}`;
    let reason: string | null;
    try {
      reason = reasonOf(request);
    } catch (error) {
      return done(error as Error);
    }
    attributeWrites({ actor: request.actor, requestId: request.id, via, reason }, done);
  });
}

function reasonOf({ headers }: FastifyRequest): string | null {
  return readReason(headers[REASON_HEADER.toLowerCase()]?.toString());
}
