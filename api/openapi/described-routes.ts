import type { FastifySchema, RouteOptions } from 'fastify';
import type { ApiServer } from '../server/api-server.ts';

declare module 'fastify' {
  interface FastifySchema {
    /** Leaves a route out of the documents. */
    hide?: boolean;
    tags?: readonly string[];
    /** One line that says what the operation does. */
    summary?: string;
    description?: string;
  }
}

/** One operation as the documents see it. */
export interface DescribedRoute {
  /** Lower case. */
  method: string;
  /** As clients see it below a prefix, parameters in braces: `/v3/components/{component_id}`. */
  path: string;
  schema: FastifySchema;
}

/**
 * Listens to the routes that are declared from now on. Call what it answers when all are there: it lists those that are
 * not hidden, without the first of the prefixes. HEAD goes without saying.
 */
export function collectRoutes(app: ApiServer, prefixes: readonly string[]): () => DescribedRoute[] {
  const declared: RouteOptions[] = [];
  app.addHook('onRoute', (route) => void declared.push(route));
  return () =>
    declared
      .filter((route) => route.schema?.hide !== true)
      .flatMap((route) =>
        [route.method].flat().map((method) => ({
          method: method.toLowerCase(),
          path: pathOf(route.url, prefixes[0] ?? ''),
          schema: route.schema ?? {},
        })),
      )
      .filter(({ method }) => method !== 'head');
}

function pathOf(url: string, prefix: string): string {
  const path = url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : url;
  return path.replace(/:([a-z_]+)/g, '{$1}') || '/';
}
