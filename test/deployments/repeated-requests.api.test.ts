/** Requests of this lane that come again with their `Idempotency-Key`, also where the process died before it had answered. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';
import { archiveOf } from './archive-fixture.ts';
import { FORM_HEADERS, formOf, formOfArchive, kubeconfigOf, named } from './cluster-fixtures.ts';
import { appForm, groupBody } from './placement-fixtures.ts';
import { documentOf } from './short-fixtures.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());

const PROVIDER = '/v2/cluster-providers/rep';
const NORTH = `${PROVIDER}/clusters/north`;
const PROJECT = '/v2/projects/rep';
const CLOUD = `${PROJECT}/logical-clouds/default`;
const APP = `${PROJECT}/composite-apps/telemetry/v1`;
const GROUP = `${APP}/deployment-intent-groups/edge`;
const WHERE = `${GROUP}/generic-placement-intents`;
const SHORT = '/api/v1/deployments';
const place = { 'provider-name': 'rep', 'cluster-name': 'north' };
const subnets = [{ name: 'one', subnet: '172.16.34.0/24', gateway: '172.16.34.1/24' }];
const network = { ...named('first'), spec: { cniType: 'ovn4nfv', ipv4Subnets: subnets } };
const controller = { ...named('action'), spec: { host: 'localhost', port: 9000, type: 'action', priority: 1 } };
const cluster = formOf(named('north'), kubeconfigOf());

/** Requests that are sent one after the other, each with the status of its answer. */
const REQUESTS: [number, string, string, unknown?, Record<string, string>?][] = [
  [201, 'POST', '/v2/cluster-providers', named('rep')],
  [201, 'POST', `${PROVIDER}/clusters`, cluster, FORM_HEADERS],
  [200, 'PUT', NORTH, formOf(named('north'), kubeconfigOf({ token: 'another' })), FORM_HEADERS],
  [201, 'POST', `${NORTH}/labels`, { 'label-name': 'edge' }],
  [201, 'POST', `${NORTH}/kv-pairs`, { ...named('site'), spec: { kv: [{ a: 'b' }] } }],
  [201, 'POST', `${NORTH}/networks`, network],
  [200, 'PUT', `${NORTH}/networks/first`, network],
  [204, 'POST', `${NORTH}/apply`],
  [204, 'POST', `${NORTH}/stop`],
  [204, 'POST', `${NORTH}/terminate`],
  [201, 'POST', '/v2/controllers', controller],
  [200, 'PUT', '/v2/controllers/action', controller],
  [201, 'POST', '/v2/projects', named('rep')],
  [200, 'PUT', PROJECT, named('rep')],
  [201, 'POST', `${PROJECT}/logical-clouds`, { ...named('default'), spec: { level: '0' } }],
  [
    ...([201, 'POST', `${CLOUD}/cluster-references`] as [number, string, string]),
    { ...named('ref'), spec: { 'cluster-provider': 'rep', 'cluster-name': 'north' } },
  ],
  [200, 'POST', `${CLOUD}/instantiate`],
  [201, 'POST', `${PROJECT}/composite-apps`, { ...named('telemetry'), spec: { version: 'v1' } }],
  [201, 'POST', `${APP}/apps`, undefined, FORM_HEADERS],
  [201, 'POST', `${APP}/composite-profiles`, named('base')],
  [201, 'POST', `${APP}/composite-profiles/base/profiles`, undefined, FORM_HEADERS],
  [201, 'POST', `${APP}/deployment-intent-groups`, groupBody('edge')],
  [201, 'POST', WHERE, named('where')],
  [
    ...([201, 'POST', `${WHERE}/where/app-intents`] as [number, string, string]),
    { ...named('agent-where'), spec: { 'app-name': 'agent', intent: { allOf: [place] } } },
  ],
  [201, 'POST', `${GROUP}/intents`, { ...named('all'), spec: { intent: { genericPlacementIntent: 'where' } } }],
  [202, 'POST', `${GROUP}/approve`],
  [202, 'POST', `${GROUP}/instantiate`],
  [202, 'POST', `${GROUP}/stop`],
  [202, 'POST', `${GROUP}/terminate`],
  [202, 'POST', SHORT, documentOf('rep-short', 'rep')],
  [202, 'POST', `${SHORT}/rep-short/stop`],
  [202, 'POST', `${SHORT}/rep-short/terminate`],
  [202, 'DELETE', `${SHORT}/rep-short`],
];

/** Forms whose archive takes a moment to be made. */
async function bodyOf(url: string, body: unknown): Promise<unknown> {
  if (url === `${APP}/apps`) return await appForm('agent');
  if (!url.endsWith('/profiles')) return body;
  return formOfArchive({ ...named('agent-profile'), spec: { 'app-name': 'agent' } }, await archiveOf([['a', 'b']]));
}

test.each(REQUESTS)('%i is answered again: %s %s', async (...row) => {
  // Jest hands `done` to a row that is shorter than the named parameters of its test.
  const [status, method, url, body, headers = {}] = row;
  const sent = await bodyOf(url, body);
  const key = { 'idempotency-key': `${method} ${url}` };
  const send = () => api.call(method, url, sent, { ...headers, ...key });
  const first = await send();
  expect([first.status, first.body]).toEqual([status, first.body]);
  const again = await send();
  expect([again.status, again.body, again.headers['idempotency-replayed']]).toEqual([status, first.body, 'true']);

  // As if the process had died between the effect and the answer.
  await sql`update idempotent_requests set answer_head = null, answer_body = null`.execute(api.database.db);
  api.now.value = new Date(api.now.value.getTime() + 30_000);
  const later = await send();
  expect([later.status, later.headers['idempotency-replayed']]).toEqual([status, undefined]);
  if (first.body?.instance !== undefined) expect(later.body.instance).toBe(first.body.instance);
});

test('each call is in its history once', async () => {
  const statesOf = async (url: string) => {
    const { body } = await api.call('GET', `${url}/status`);
    return body.states.actions.map(({ state }: { state: string }) => state);
  };
  const stopped = ['Instantiated', 'InstantiateStopped', 'Terminated'];
  expect(await statesOf(GROUP)).toEqual(['Created', 'Approved', ...stopped]);
  expect(await statesOf(CLOUD)).toEqual(['Created', 'Instantiated']);
  expect(await statesOf(NORTH)).toEqual(['Created', 'Applied', 'InstantiateStopped', 'Terminated']);
});

test('a key of another form is refused', async () => {
  const key = { 'idempotency-key': `POST ${PROVIDER}/clusters`, ...FORM_HEADERS };
  const other = formOf(named('south'), kubeconfigOf());
  const { status, body } = await api.call('POST', `${PROVIDER}/clusters`, other, key);
  expect([status, body.code]).toEqual([422, 'idempotency_key_reused']);
});
