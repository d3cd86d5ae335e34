import { attributeWrites } from '../../../control/access/attribute-writes.ts';
import type { ApiServer } from '../api-server.ts';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** What a request writes is recorded with who asked, its id and its route. Comes after the access check and the reading of the body. */
export function attribution(app: ApiServer): void {
  app.addHook('preValidation', (request, _reply, done) => {
    if (READS.has(request.method)) return done();
    const via = `${request.method} ${request.routeOptions.url ?? ''}`;
    attributeWrites({ actor: request.actor, requestId: request.id, via }, done);
  });
}
