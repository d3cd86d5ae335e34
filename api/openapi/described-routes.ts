import type { FastifyContextConfig, FastifySchema } from 'fastify';
import type { z } from 'zod';
import type { ApiServer } from '../server/api-server.ts';

declare module 'fastify' {
  interface FastifySchema {
    /** Leaves a route out of the documents. */
    hide?: boolean;
    tags?: readonly string[];
    /** One line that says what the operation does. */
    summary?: string;
    description?: string;
    /** Name of the operation, where it is not made of method and path (`operationId`). */
    operationId?: string;
    /** A body that a client may leave out. The handler reads it with `optionalBody`. */
    optionalBody?: z.ZodType;
    /** Media types of a body that is not JSON. */
    consumes?: readonly string[];
    /** Media types of the answer; without it JSON. */
    produces?: readonly string[];
  }
}

/** One operation as the documents see it. */
export interface DescribedRoute {
  /** Lower case. */
  method: string;
  /** As clients see it below a prefix, parameters in braces: `/v3/components/{component_id}`. */
  path: string;
  schema: FastifySchema;
  config: FastifyContextConfig;
}

/**
 * The declared routes that are not hidden, without the first of the prefixes. HEAD goes without saying.
 */
export function describedRoutes(app: ApiServer, prefixes: readonly string[]): DescribedRoute[] {
  return app.declaredRoutes
    .filter(({ method, options }) => method !== 'HEAD' && options.schema?.hide !== true)
    .map(({ method, url, options: { schema = {}, config = {} } }) => ({
      method: method.toLowerCase(),
      path: pathOf(url, prefixes[0] ?? ''),
      schema,
      config,
    }));
}

function pathOf(url: string, prefix: string): string {
  const path = url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : url;
  return path.replace(/:([a-z_]+)/g, '{$1}') || '/';
}
