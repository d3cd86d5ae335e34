/** The writes that have a dry run. */
import type { ManyForm } from '../../../control/service/rehearse-many.ts';

/** Of version 3 of CFS's API, below each of its prefixes. */
const CFS = [
  ...['PUT /v3/configurations/:name', 'PATCH /v3/configurations/:name', 'DELETE /v3/configurations/:name'],
  ...['PUT /v3/components', 'PATCH /v3/components'],
  ...['PUT /v3/components/:id', 'PATCH /v3/components/:id', 'DELETE /v3/components/:id'],
  ...['POST /v3/sources', 'POST /v3/sources/:name', 'PATCH /v3/sources/:name', 'DELETE /v3/sources/:name'],
  'PATCH /v3/options',
  ...['POST /v3/sessions', 'DELETE /v3/sessions', 'DELETE /v3/sessions/:name', 'PATCH /v3/sessions/:name'],
];

/** Muster's own. */
const MUSTER = [
  ...['POST /tokens', 'DELETE /tokens/:name'],
  ...['PUT /secrets/:name/:key', 'DELETE /secrets/:name/:key', 'DELETE /secrets/:name'],
  ...['PATCH /options', 'POST /components/actions', 'POST /components/reset-errors'],
  ...['POST /sessions/cancel', 'POST /sessions/retry', 'POST /sessions/delete'],
  ...['POST /sessions/:name/cancel', 'POST /sessions/:name/retry', 'POST /sessions/:name/finish-debug'],
  ...['POST /batches/pause', 'POST /batches/resume'],
  ...['POST /rollouts/:name/stop', 'POST /rollouts/:name/resume'],
  ...['POST /schedules', 'PUT /schedules/:name', 'PATCH /schedules/:name', 'DELETE /schedules/:name'],
  ...['POST /schedules/:name/pause', 'POST /schedules/:name/resume', 'POST /schedules/:name/trigger'],
  ...['POST /drift/checks'],
  ...['POST /webhooks', 'PATCH /webhooks/:name', 'DELETE /webhooks/:name'],
];

/** Of all surfaces, each by its first prefix. */
export const REHEARSABLE: readonly string[] = [...CFS, ...MUSTER.map((route) => route.replace(' ', ' /api/v1'))];

/** Returns whether a request has a dry run, by its method and path. */
export function rehearsableRequests(prefixes: readonly string[]): (method: string, path: string) => boolean {
  const patterns = [
    ...prefixes.flatMap((prefix) => CFS.map((route) => patternOf(route, prefix))),
    ...MUSTER.map((route) => patternOf(route, '/api/v1')),
  ];
  return (method, path) => patterns.some((pattern) => pattern.test(`${method} ${path}`));
}

/** A part of a path that is a name. A `.` or `..`, also escaped, or a `\` would lead to another route. */
const NAME = '(?!(?:\\.|%2[eE]){1,2}(?:/|$))[^/\\\\]+';

function patternOf(route: string, prefix: string): RegExp {
  const [method = '', path = ''] = route.split(' ');
  const words = `${prefix}${path}`.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:[a-z]+/g, NAME);
  return new RegExp(`^${method} ${words}/?$`);
}

/** Bodies of Muster's own routes that choose records by themselves. */
const MANY = {
  'POST /components/actions': 'action',
  'POST /sessions/cancel': 'cancel',
  'POST /sessions/delete': 'delete',
} as const satisfies Record<string, ManyForm>;

/** Returns which body of the request chooses records by itself; null for every other request. */
export function manyForms(prefixes: readonly string[]): (method: string, path: string) => ManyForm | null {
  const patterns: [RegExp, ManyForm][] = [
    ...prefixes.map((prefix): [RegExp, ManyForm] => [patternOf('PATCH /v3/components', prefix), 'filter patch']),
    ...Object.entries(MANY).map(([route, form]): [RegExp, ManyForm] => [patternOf(route, '/api/v1'), form]),
  ];
  return (method, path) => patterns.find(([pattern]) => pattern.test(`${method} ${path}`))?.[1] ?? null;
}
