import type { ApiServer } from '../../server/api-server.ts';
import type { ServiceApi } from './dependencies.ts';

/**
 * What those who run this process ask it: `/livez` whether it still answers, `/readyz` whether it may be given requests. A
 * database or an engine that is away is no reason to restart it or to send requests elsewhere: what can be done without them
 * is done, the rest is answered 503 with the reason. Not a part of any API document.
 */
export function probes(app: ApiServer, deps: Pick<ServiceApi, 'setup'>): void {
  app.get('/livez', { schema: { hide: true } }, async () => ({ ok: true, reason: null }));
  app.get('/readyz', { schema: { hide: true } }, async (_request, reply) => {
    const setup = deps.setup();
    return reply.code(setup.ok ? 200 : 503).send(setup);
  });
}
