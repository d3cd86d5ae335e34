/** The one table that says who may use which route. A route that is not in it is closed to all but administrators. */
import type { RouteAccess } from '../../../domain/access/roles.ts';

const open: RouteAccess = { least: 'public' };
const reader: RouteAccess = { least: 'reader' };
const operator: RouteAccess = { least: 'operator' };
const admin: RouteAccess = { least: 'admin' };

/**
 * Method and path of every route; HEAD is as GET. `{v}` is v2 or v3, `:id` any parameter, `*` one more part
 * that no other row names; the prefixes of CFS's routes are left away.
 *
 * Whoever may write a configuration, an option that names a repository, or a session, may run code as the user of the
 * runner: those are operators. Sources name the credentials that go to their URL, so who may change one could have them
 * sent elsewhere: administrators. A node reports its own component and changes nothing of what is to run on it.
 */
export const ROUTE_ROLES: Readonly<Record<string, RouteAccess>> = {
  // Probes and clients ask these before they have a token, and all of it is the same for everybody.
  'GET /': open,
  'GET /versions': open,
  'GET /v2': open,
  'GET /v3': open,
  'GET /healthz': open,
  'GET /livez': open,
  'GET /readyz': open,
  'GET /docs': open,
  'GET /docs/': open,
  'GET /docs/*': open,
  'GET /openapi.json': open,
  'GET /openapi/v2.json': open,
  'GET /openapi/v3.json': open,
  'GET /openapi/muster.json': open,
  'GET /openapi/ims.json': open,

  'GET /metrics': reader,

  // Temporal's web UI has no login of its own; what is changed there changes sessions.
  'GET /temporal': reader,
  'GET /temporal/': reader,
  'GET /temporal/*': reader,
  'POST /temporal/*': operator,
  'PUT /temporal/*': operator,
  'PATCH /temporal/*': operator,
  'DELETE /temporal/*': operator,

  'GET /{v}/options': reader,
  'PATCH /{v}/options': operator,

  'GET /{v}/configurations': reader,
  'GET /{v}/configurations/:id': reader,
  'PUT /{v}/configurations/:id': operator,
  'PATCH /{v}/configurations/:id': operator,
  'DELETE /{v}/configurations/:id': operator,

  'GET /v3/sources': reader,
  'POST /v3/sources': admin,
  'GET /v3/sources/:id': reader,
  'POST /v3/sources/:id': admin,
  'PATCH /v3/sources/:id': admin,
  'DELETE /v3/sources/:id': admin,

  'GET /{v}/components': reader,
  'PUT /{v}/components': operator,
  'PATCH /{v}/components': operator,
  'GET /{v}/components/:id': { ...reader, ownComponent: true },
  'PUT /{v}/components/:id': operator,
  'PATCH /{v}/components/:id': { ...operator, ownComponent: true },
  'DELETE /{v}/components/:id': operator,

  'GET /{v}/sessions': reader,
  'POST /{v}/sessions': operator,
  'DELETE /{v}/sessions': operator,
  'GET /{v}/sessions/:id': reader,
  'PATCH /{v}/sessions/:id': operator,
  'DELETE /{v}/sessions/:id': operator,

  'GET /api/v1/status': reader,
  'GET /api/v1/options': reader,
  'PATCH /api/v1/options': operator,
  'GET /api/v1/sessions': reader,
  'GET /api/v1/sessions/:id': reader,
  'GET /api/v1/sessions/:id/events': reader,
  'GET /api/v1/sessions/:id/logs': reader,
  'GET /api/v1/sessions/:id/hosts': reader,
  'GET /api/v1/sessions/:id/progress': reader,
  'POST /api/v1/sessions/cancel': operator,
  'POST /api/v1/sessions/:id/cancel': operator,
  'POST /api/v1/sessions/:id/finish-debug': operator,
  'POST /api/v1/sessions/:id/retry': operator,

  'GET /api/v1/batches': reader,
  'GET /api/v1/batches/keys': reader,
  'GET /api/v1/batches/:id': reader,
  'POST /api/v1/batches/pause': operator,
  'POST /api/v1/batches/resume': operator,
  'POST /api/v1/batches/tick': operator,

  'GET /api/v1/rollouts': reader,
  'GET /api/v1/rollouts/:id': reader,
  'POST /api/v1/rollouts/:id/stop': operator,
  'POST /api/v1/rollouts/:id/resume': operator,

  'GET /api/v1/schedules': reader,
  'POST /api/v1/schedules': operator,
  'GET /api/v1/schedules/:id': reader,
  'PUT /api/v1/schedules/:id': operator,
  'PATCH /api/v1/schedules/:id': operator,
  'DELETE /api/v1/schedules/:id': operator,
  'POST /api/v1/schedules/:id/pause': operator,
  'POST /api/v1/schedules/:id/resume': operator,
  'POST /api/v1/schedules/:id/trigger': operator,
  'GET /api/v1/schedules/:id/next': reader,
  'GET /api/v1/schedules/:id/runs': reader,
  'GET /api/v1/schedules/:id/runs/:id': reader,

  'POST /api/v1/components/reset-errors': operator,

  'GET /api/v1/drift': reader,
  'GET /api/v1/drift/:id': reader,
  'POST /api/v1/drift/checks': operator,

  'GET /api/v1/secrets': admin,
  'PUT /api/v1/secrets/:id/:id': admin,
  'POST /api/v1/secrets/rotate-key': admin,
  'DELETE /api/v1/secrets/:id': admin,
  'DELETE /api/v1/secrets/:id/:id': admin,
  'GET /api/v1/secrets/:id/usage': admin,

  // Records come in as they are, sources with the names of their secrets among them.
  'POST /api/v1/import/sources': admin,
  'POST /api/v1/import/configurations': admin,
  'POST /api/v1/import/options': admin,
  'POST /api/v1/import/components': admin,

  // What happened to a component is for all who may read it; the list reaches across all that there is.
  'GET /api/v1/components/:id/timeline': reader,
  'GET /api/v1/audit': operator,

  'GET /api/v1/runs/:id': reader,
  'GET /api/v1/runs/:id/events': reader,
  'GET /api/v1/runs/:id/logs': reader,
  'POST /api/v1/runs/:id/end': admin,

  'GET /api/v1/trust': reader,
  // Public keys, which a node asks for before it has a token.
  'GET /api/v1/trust/ca': open,

  // A receiver's address often holds a key of its own.
  'GET /api/v1/webhooks': admin,
  'POST /api/v1/webhooks': admin,
  'GET /api/v1/webhooks/:id': admin,
  'PATCH /api/v1/webhooks/:id': admin,
  'DELETE /api/v1/webhooks/:id': admin,
  'POST /api/v1/webhooks/:id/test': admin,
  'GET /api/v1/webhooks/:id/deliveries': admin,

  // Who may customise an image runs code in it as its root; the same may who may create sessions.
  ...imageService('/apis/ims'),
  ...imageService('/apis/ims/v2'),
  'GET /api/v1/images': reader,
  'POST /api/v1/images': operator,
  'GET /api/v1/images/:id': reader,
  // The file may hold what nobody but root of the image is to read.
  'GET /api/v1/images/:id/content': operator,
  'DELETE /api/v1/images/:id': operator,

  'GET /api/v1/tokens': admin,
  'POST /api/v1/tokens': admin,
  'GET /api/v1/tokens/:id': admin,
  'DELETE /api/v1/tokens/:id': admin,
};

/** Rows of the image service below one of its prefixes. */
function imageService(prefix: string): Record<string, RouteAccess> {
  return {
    [`GET ${prefix}/images`]: reader,
    [`POST ${prefix}/images`]: operator,
    [`GET ${prefix}/images/:id`]: reader,
    [`PATCH ${prefix}/images/:id`]: operator,
    [`DELETE ${prefix}/images/:id`]: operator,
    [`GET ${prefix}/public-keys`]: reader,
    [`POST ${prefix}/public-keys`]: operator,
    [`GET ${prefix}/public-keys/:id`]: reader,
    [`DELETE ${prefix}/public-keys/:id`]: operator,
    [`GET ${prefix}/jobs`]: reader,
    [`POST ${prefix}/jobs`]: operator,
    [`DELETE ${prefix}/jobs`]: operator,
    [`GET ${prefix}/jobs/:id`]: reader,
    [`PATCH ${prefix}/jobs/:id`]: operator,
    [`DELETE ${prefix}/jobs/:id`]: operator,
  };
}

const CLOSED: RouteAccess = admin;

/** The row of the table for a route as it is registered. */
export function routeKey(method: string, url: string, prefixes: readonly string[]): string {
  const own = prefixes
    .filter((prefix) => prefix !== '' && (url === prefix || url.startsWith(`${prefix}/`)))
    .sort((one, other) => other.length - one.length)[0];
  const path = url.slice(own?.length ?? 0) || '/';
  const plain = path.replace(/:[A-Za-z0-9_]+/g, ':id');
  const verb = method === 'HEAD' ? 'GET' : method;
  const exact = `${verb} ${plain}`;
  const keys = [exact, `${verb} ${plain.replace(/^\/v[23](?=\/)/, '/{v}')}`, `${verb} ${plain.replace(/[^/]+$/, '*')}`];
  return keys.find((key) => Object.hasOwn(ROUTE_ROLES, key)) ?? exact;
}

/** Who may use a route as it is registered. */
export function accessOf(method: string, url: string, prefixes: readonly string[]): RouteAccess {
  const key = routeKey(method, url, prefixes);
  return Object.hasOwn(ROUTE_ROLES, key) ? (ROUTE_ROLES[key] ?? CLOSED) : CLOSED;
}
