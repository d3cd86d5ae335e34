import type { FastifyReply, FastifyRequest } from 'fastify';
import { musterError, problemOf } from '../../../domain/errors.ts';
import type { ApiServer } from '../api-server.ts';
import { sendProblem } from '../problems.ts';

/**
 * Answers `OPTIONS` on a known path with 204 and `Allow`, without a token, and with nothing that lets a page of another site in. Comes before
 * the check of access; of other paths that one speaks.
 */
export function optionsOfPaths(app: ApiServer): void {
  const methodsOf = followRoutes(app);
  app.addHook('onRequest', async (request, reply) => {
    if (request.method !== 'OPTIONS' || !request.is404) return undefined;
    const methods = methodsOf(pathOf(request));
    return methods.length === 0
      ? undefined
      : reply
          .code(204)
          .header('allow', allowOf([...methods, 'OPTIONS']))
          .send();
  });
}

/** Answers paths that no route has with 404, and known paths with another method with 405 and `Allow` (cfs-api 1). */
export function unknownPaths(app: ApiServer): void {
  const methodsOf = followRoutes(app);
  const answer = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const path = pathOf(request);
    const methods = methodsOf(path);
    if (methods.length === 0) {
      return sendProblem(reply, problemOf(musterError('not_found', `There is nothing at ${path.slice(0, 500)}`)));
    }
    reply.header('allow', allowOf(methods));
    const detail = `${request.method} is not allowed for ${path.slice(0, 500)}`;
    return sendProblem(reply, problemOf(musterError('method_not_allowed', detail)));
  };
  app.setNotFoundHandler(answer);
  // At once: nobody reads the body of such a request.
  app.addHook('onRequest', async (request, reply) => (request.is404 ? answer(request, reply) : undefined));
}

const pathOf = (request: FastifyRequest): string => request.url.replace(/[?#].*$/s, '');
const allowOf = (methods: string[]): string => [...new Set(methods)].sort().join(', ');

/** Remembers the routes that are registered from now on; answers the methods of a path. */
function followRoutes(app: ApiServer): (path: string) => string[] {
  const routes: { segments: string[]; methods: string[] }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    routes.push({ segments: url.split('/'), methods: [method].flat() });
  });
  return (path) => {
    const segments = path.split('/').map(decoded);
    return nearest(routes.filter((route) => matches(route.segments, segments))).flatMap((route) => route.methods);
  };
}

/** Of the routes that match a path, those that name most of it: `/batches/pause` is a command, no batch of that name. */
function nearest<R extends { segments: readonly string[] }>(matching: readonly R[]): R[] {
  const open = ({ segments }: R) => segments.filter((segment) => segment.startsWith(':')).length;
  const least = Math.min(...matching.map(open));
  return matching.filter((route) => open(route) === least);
}

function matches(route: readonly string[], path: readonly string[]): boolean {
  if (route.at(-1) === '*') {
    const fixed = route.slice(0, -1);
    return path.length >= route.length && matches(fixed, path.slice(0, fixed.length));
  }
  return (
    route.length === path.length &&
    route.every((segment, index) => (segment.startsWith(':') ? path[index] !== '' : segment === path[index]))
  );
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
