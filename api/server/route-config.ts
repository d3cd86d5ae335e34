import type { FastifyContextConfig, RouteOptions } from 'fastify';
import type { RouteAccess } from '../../domain/access/roles.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import { someOf } from '../../domain/some-of.ts';
import type { RouteClass } from './admission/request-class.ts';
import type { ApiServer } from './api-server.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may use the route: the weakest role, `public` for everybody. */
    access?: RouteAccess['least'] | RouteAccess;
    /** What a request of the route costs. */
    class?: RouteClass;
    /** Codes that the rules of the route refuse with. Codes of the checks before the rules are not among them. */
    refuses?: readonly (ErrorCode | RefusedAs)[];
    /** Nothing of a request stays, although its method is that of a write: no answer is kept for an `Idempotency-Key`. */
    changesNothing?: true;
  }
  interface FastifyInstance {
    /** Every route that was declared, one entry for each method. */
    declaredRoutes: DeclaredRoute[];
  }
}

/** A code that a route answers with the status of another meaning than the catalogue's. */
export interface RefusedAs {
  code: ErrorCode;
  status: number;
}

/** A route as it was declared; `url` has the prefix. */
export interface DeclaredRoute {
  method: string;
  url: string;
  options: RouteOptions;
}

const WHAT_TO_ADD = {
  access: "access: 'reader' (or 'operator', 'admin', { least: 'reader', ownComponent: true }, 'public' for everybody)",
  class: "class: 'quick' (or 'list', 'bulk', 'remote', 'free', or a function of the request's shape)",
} as const;
type Demanded = keyof typeof WHAT_TO_ADD;

/**
 * Remembers the routes that are declared from now on. A route that does not say what is demanded throws, so that the
 * server does not start: closed by default.
 */
export function declaredRoutes(app: ApiServer, demanded: readonly Demanded[]): void {
  app.decorate('declaredRoutes', []);
  app.addHook('onRoute', (options) => {
    const missing = demanded.filter((member) => options.config?.[member] === undefined);
    for (const method of [options.method].flat()) {
      if (missing.length > 0) throw new Error(undeclared(method, options.url, missing));
      app.declaredRoutes.push({ method, url: options.url, options });
    }
  });
}

function undeclared(method: string, url: string, missing: readonly Demanded[]): string {
  const members = someOf(missing.map((member) => WHAT_TO_ADD[member]));
  return `${method} ${url} does not say its ${missing.join(' and ')}: add to its declaration config: { ${members} }`;
}

/** Who may use a route. Throws when it does not say so, which `declaredRoutes` lets no route do. */
export function accessOf(config: Pick<FastifyContextConfig, 'access'> | undefined): RouteAccess {
  const access = config?.access;
  if (access === undefined) throw new Error('a route does not say who may use it');
  return typeof access === 'string' ? { least: access } : access;
}
