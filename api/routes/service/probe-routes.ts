import type { ApiServer } from '../../server/api-server.ts';
import type { ServiceApi } from './dependencies.ts';

// Probes ask before they have a token, and the answer is the same for everybody.
const PROBE = { schema: { hide: true }, config: { access: 'public', class: 'free' } } as const;

/**
 * What those who run this process ask it: `/livez` whether it still answers, `/readyz` whether it may be given requests. A
 * database or an engine that is away is no reason to restart it or to send requests elsewhere: what can be done without them
 * is done, the rest is answered 503 with the reason. Not a part of any API document.
 */
export function probes(app: ApiServer, deps: Pick<ServiceApi, 'setup'>): void {
  app.get('/livez', PROBE, async () => ({ ok: true, reason: null }));
  app.get('/readyz', PROBE, async (_request, reply) => {
    const setup = deps.setup();
    return reply.code(setup.ok ? 200 : 503).send(setup);
  });
}
