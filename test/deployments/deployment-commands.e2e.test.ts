import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { beginPhase, finishPhase } from '../../control/deployments/run-phase.ts';
import { eventually } from '../support/eventually.ts';
import { cli } from '../support/stack/command-line.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';
import { makeDeployment } from './placement-fixtures.ts';

let api: TokenApi;
let url: string;
const name = 'commands+telemetry+v1+edge';

beforeAll(async () => {
  api = await createTokenApi();
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
  await makeDeployment((...request) => api.as(api.tokens.admin, ...request), 'commands');
});
afterAll(() => api.close());

const run = (args: string[], token = api.tokens.operator) => cli(['deployment', ...args], { url, stdin: '', token });
const contexts = () => api.database.db.selectFrom('deployment_contexts').selectAll().where('cloud', '!=', '');

test('a deployment is approved, instantiated, looked at, stopped and terminated', async () => {
  expect(await run(['approve', name])).toMatchObject({ exit: 0, err: `deployment ${name} approved\n` });
  expect((await run(['status', name])).out).toBe(`${name}  Approved\n`);
  const late = await run(['instantiate', name, '--wait', '--timeout', '1']);
  expect([late.exit, late.err]).toEqual([6, expect.stringContaining('timed_out')]);
  const tree = (await run(['status', name, '--app', 'agent', '--cluster', 'lab-commands+north'])).out.split('\n');
  expect(tree[0]).toBe(`${name}  Instantiated  AppContext Instantiating  2 Pending, 2 Unknown  not ready`);
  expect(tree.slice(1, 3)).toEqual(['agent  2 Pending, 2 Unknown', expect.stringContaining('lab-commands+north')]);
  expect((await run(['status', name, '-o', 'tsv', '--resource', 'cfg'])).out.split('\n')).toHaveLength(3);
  expect(JSON.parse((await run(['status', name, '--type', 'rsync', '-o', 'json'])).out)).toMatchObject({
    'rsync-status': { Pending: 2 },
  });

  // Nothing was ever heard of the cluster.
  const [, ...stale] = (await run(['explain', name, '-o', 'tsv'])).out.trimEnd().split('\n');
  expect(stale).toEqual([expect.stringContaining('\tStale'), expect.stringContaining('\tStale')]);
  const { db } = api.database;
  const seen = { is_answering: true, last_seen: new Date(), probed_at: new Date() };
  await db.updateTable('member_cluster_probes').set(seen).where('provider', '=', 'lab-commands').execute();
  // What has not begun is no fault.
  expect(await run(['explain', name])).toMatchObject({ exit: 0, out: '', err: 'no resources that are not well\n' });
  await db
    .updateTable('context_resources')
    .set({ status: 'Failed', reason: 'Forbidden', message: 'no\u001b[31m' })
    .where('key', '=', 'cfg+ConfigMap')
    .execute();
  expect((await run(['explain', name, '-o', 'tsv'])).out.split('\n').slice(1)).toEqual([
    expect.stringContaining('agent lab-commands+north\tConfigMap cfg\tFailed Unknown\tForbidden'),
    '',
  ]);

  const stopping = run(['stop', name, '--wait']);
  const { id } = await eventually('the stop', () => contexts().where('is_stopped', '=', true).executeTakeFirst());
  const engine = { db, clock: () => new Date() };
  await beginPhase(engine, id);
  await finishPhase(engine, id, 'apply');
  expect(await stopping).toMatchObject({
    exit: 1,
    err: expect.stringContaining(`deployment ${name}: InstantiateFailed, 2 Failed`),
  });
  expect(await run(['terminate', name, '--wait'])).toMatchObject({
    exit: 0,
    err: expect.stringContaining(`deployment ${name}: Terminated, 2 Deleted`),
  });
});

test.each<[string, string[], number, string]>([
  ['a name that is no deployment', ['status', 'commands+edge'], 2, 'bad_request'],
  ['an empty name', ['status', ''], 2, 'usage'],
  ['a deployment that is not there', ['status', 'commands+telemetry+v1+other'], 3, 'not_found'],
  ['a type that is none', ['status', name, '--type', 'live'], 2, 'bad_request'],
  ['a call that its state does not allow', ['stop', name], 5, 'invalid_state'],
  ['a time limit without a wait', ['stop', name, '--timeout', '1'], 2, 'usage'],
])('says what is wrong with %s', async (_title, args, status, code) => {
  const refused = await run(args);
  expect([refused.exit, refused.err]).toEqual([status, expect.stringContaining(code)]);
});

test('shows what would be asked, and asks nothing; readers only look', async () => {
  expect((await run(['approve', name, '--dry-run=request'])).exit).toBe(0);
  expect((await run(['status', name], api.tokens.reader)).out).toContain('Terminated');
  expect((await run(['approve', name], api.tokens.reader)).exit).toBe(4);
});
