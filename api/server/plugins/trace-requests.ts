import type { ApiShared } from '../../shared/api-shared.ts';
import type { ApiServer } from '../api-server.ts';

/** One span a request, where tracing is on: method, route and status; neither path nor query, which may hold secrets. */
export function traceRequests(app: ApiServer, { tracing }: Pick<ApiShared, 'tracing'>): void {
  if (tracing === undefined) return;
  const spans = new WeakMap<object, ReturnType<typeof tracing.beginRequest>>();
  app.addHook('onRequest', async (request) => {
    const parent = request.headers.traceparent;
    const span = tracing.beginRequest(request.method, typeof parent === 'string' ? parent : undefined);
    spans.set(request, span);
    request.trace = span.trace;
  });
  app.addHook('onResponse', async (request, reply) => {
    spans.get(request)?.end(request.routeOptions.url ?? 'none', reply.statusCode);
  });
}
