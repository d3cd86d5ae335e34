/** Paths of parts that are not built yet: each is refused by its name, so that it is not taken for a path that is misspelt. */
import type { RouteAccess } from '../../../domain/access/roles.ts';
import { musterError } from '../../../domain/errors.ts';
import { PlanViewSchema } from '../../../domain/propagation/plan-view-schema.ts';
import type { ApiServer } from '../../server/api-server.ts';

type Later = readonly [
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  least: RouteAccess['least'],
  what: string,
];

const LATER: readonly Later[] = [
  ['POST', '/resources/validate', 'reader', 'The check of all resources (validate)'],
  ['POST', '/resources/:name/actions/:action', 'operator', 'A plan of one action (actions)'],
  ['GET', '/resources/:name/inputs', 'reader', 'The list of inputs by themselves (inputs)'],
  ['POST', '/resources/:name/inputs', 'operator', 'A change of the inputs that a resource has (inputs)'],
  ['PUT', '/resources/:name/inputs/:input', 'operator', 'A change of the inputs that a resource has (inputs)'],
  ['DELETE', '/resources/:name/inputs/:input', 'operator', 'A change of the inputs that a resource has (inputs)'],
  ['GET', '/resources/:name/inputs/:input/backtrack', 'reader', 'The way back of a value (backtrack)'],
  ['POST', '/resources/:name/prefetch', 'operator', 'The managers of a resource (prefetch)'],
  ['GET', '/connections/graph', 'reader', 'The graph of connections (graph)'],
  ['GET', '/events/traverse/:resource', 'reader', 'The graph of events (traverse)'],
  ['POST', '/changes/history/:uid/revert', 'operator', 'The return to a committed change (revert)'],
  ['POST', '/plans/:plan/restart', 'operator', 'The restart of a plan (restart)'],
  ['POST', '/plans/:plan/reset', 'operator', 'The reset of a plan (reset)'],
  ['POST', '/plans/:plan/filter', 'operator', 'The execution of a part of a plan (filter)'],
  ['POST', '/plans/:plan/noop', 'operator', 'A node that an operator marks as done (noop)'],
  ['POST', '/plans/:plan/approve', 'operator', 'The approval of a node (approve)'],
  ['POST', '/composer', 'operator', 'A composer file (composer)'],
  ['GET', '/export', 'reader', 'The export as a composer file (export)'],
  ['GET', '/auto', 'reader', 'The auto mode (auto)'],
  ['POST', '/auto', 'operator', 'The auto mode (auto)'],
  ['GET', '/auto/:name', 'reader', 'The auto mode (auto)'],
  ['PUT', '/auto/:name', 'operator', 'The auto mode (auto)'],
  ['DELETE', '/auto/:name', 'operator', 'The auto mode (auto)'],
];

function refuse(what: string): never {
  throw musterError('not_supported', `${what} is not supported yet`);
}

/**
 * Refuses members of bodies that a later release will take.
 * Throws `not_supported` with the first of them.
 */
export function refuseLaterMembers(given: Readonly<Record<string, unknown>>): void {
  const member = Object.keys(given).find((name) => given[name] !== undefined);
  if (member !== undefined) throw musterError('not_supported', `${member} is not supported yet: leave it out`, member);
}

/** Declares the paths; they are in no document, unless the same path has an operation that is built. */
export function laterRoutes(app: ApiServer): void {
  app.post(
    '/plans',
    {
      schema: {
        tags: ['plans'],
        summary: 'Make a plan of a list of tasks: not supported yet',
        response: { 201: PlanViewSchema },
      },
      config: { access: 'operator', class: 'quick', refuses: ['not_supported'] },
    },
    () => refuse('A plan that is given as a list of tasks (create)'),
  );
  for (const [method, url, access, what] of LATER) {
    app.route({
      method,
      url,
      schema: { hide: true },
      config: { access, class: 'quick', refuses: ['not_supported'] },
      handler: () => refuse(what),
    });
  }
}
