import type { ApiServer } from '../../server/api-server.ts';
import type { ServiceApi } from './dependencies.ts';
import type { Exposition } from './exposition.ts';

/**
 * `/metrics` for Prometheus. Its library is loaded, and requests are counted, from the first time that somebody asks: a
 * stack that nobody measures does not pay for it.
 */
export function metrics(app: ApiServer, deps: ServiceApi): void {
  let asked: Promise<Exposition> | undefined;
  let loaded: Exposition | undefined;
  const load = () => {
    asked ??= import('./exposition.ts').then(({ createExposition }) => {
      loaded = createExposition(deps);
      return loaded;
    });
    return asked;
  };
  app.addHook('onResponse', async (request, reply) => {
    const { routeOptions } = request;
    loaded?.countRequest(request.method, routeOptions.url ?? 'none', reply.statusCode, reply.elapsedTime / 1_000);
  });
  const options = { schema: { hide: true }, config: { access: 'reader', class: 'free' } } as const;
  app.get('/metrics', options, async (_request, reply) => {
    const exposition = await load();
    const { type, text } = await exposition.read();
    return reply.header('content-type', type).send(text);
  });
}
