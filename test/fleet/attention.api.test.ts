/** What needs attention, from records as they are. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { insertHostResults } from '../../store/runs/host-results.ts';
import { ensureRun } from '../../store/runs/runs.ts';
import { endSession, hostResult, sessionId, setSession } from '../sessions/session-fixtures.ts';
import { eventually } from '../support/eventually.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

const layers = [{ clone_url: 'https://git.example.test/one.git', playbook: 'site.yml', commit: 'a'.repeat(40) }];

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  await send('PUT', '/v3/configurations/web', { layers });
  const failed = { desired_config: 'web', error_count: 3, retry_policy: 3 };
  await send('PUT', '/v3/components', [
    { id: 'n1', ...failed },
    { id: 'n2', ...failed },
    { id: 'n3', ...failed },
    { id: 'n4', ...failed, error_count: 1 },
  ]);
  for (const name of ['first', 'second']) await send('POST', '/v3/sessions', { name, configuration_name: 'web' });
});
afterAll(() => api.close());

async function send(method: string, path: string, body: unknown): Promise<void> {
  const answer = await api.call(method, path, body);
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
}
async function failedIn(name: string, results: [host: string, message: string][]): Promise<void> {
  const id = await sessionId(api.deps.db, name);
  const runId = `${id}-1-0`;
  const place = { runId, sessionId: id, layer: 0, attempt: 1 };
  await ensureRun(
    api.deps.db,
    { id: runId, sessionId: id, streamId: id, layer: 0, attempt: 1, host: 'disk' },
    new Date(),
  );
  await insertHostResults(
    api.deps.db,
    place,
    results.map(([host]) => hostResult(host, 'failed')),
  );
  // What the end of a run takes from its events.
  for (const [host, message] of results) {
    await api.deps.db
      .updateTable('host_results')
      .set({ message })
      .where('run_id', '=', runId)
      .where('host', '=', host)
      .execute();
  }
}
const found = async (failure: string) => {
  const { status, body } = await api.call('GET', `/api/v1/components?failure=${failure}`);
  if (status !== 200) return status;
  return body.components.map(({ id }: { id: string }) => id);
};
const all = async () => (await api.call('GET', '/api/v1/fleet/attention')).body.items;
/** No batcher runs here, so that it is late. */
const items = async () => (await all()).filter(({ kind }: { kind: string }) => kind !== 'lag');

test('groups failed components by their last failure, and names sessions that hold', async () => {
  await failedIn('first', [
    ['n1', 'Install: rc 1'],
    ['n2', 'Install: rc 100'],
    ['n4', 'it is tried again'],
  ]);
  const first = await sessionId(api.deps.db, 'first');
  await endSession(api.deps.db, first, 'false');
  const second = await sessionId(api.deps.db, 'second');
  await setSession(api.deps.db, second, { phase: 'hold', message: 'held until 10:29:52Z' });
  expect(await items()).toEqual([
    expect.objectContaining({
      kind: 'failed_components',
      count: 2,
      reason: expect.stringMatching(/^Install: rc /),
      link: { page: 'sessions', name: 'first', id: first },
    }),
    expect.objectContaining({
      kind: 'failed_components',
      count: 1,
      link: { page: 'components', name: null, id: null },
    }),
    expect.objectContaining({ kind: 'held_session', link: { page: 'sessions', name: 'second', id: second } }),
  ]);
  expect((await api.call('GET', '/api/v1/fleet')).body.attention).toBe((await all()).length);
  const [{ failure: told }, { failure: silent }] = await items();
  expect(await Promise.all([found(told), found(silent), found('f0123456789abcde'), found('x')])).toEqual([
    ...[['n1', 'n2'], ['n3'], [], 400],
  ]);
  const selection = { filter: { failure: told, hosts: 'n[2-4]' } };
  const chosen = await api.call('POST', '/api/v1/components/selections', selection);
  expect(chosen.body).toMatchObject({ count: 1, sample: ['n2'] });
  await setSession(api.deps.db, second, { phase: 'teardown' });
  for (const id of ['n1', 'n2', 'n3']) await send('PATCH', `/v3/components/${id}`, { error_count: 0 });
  await eventually('nothing needs attention', async () => (await items()).length === 0);
});

test('names what waits for long, what drifts, and what of Muster is not well', async () => {
  const other = await createTestApi({
    readWorkers: async () => ({ ok: false, reason: 'no worker has asked for work', count: 0 }),
  });
  try {
    const { db } = other.deps;
    const body = { layers };
    expect((await other.call('PUT', '/v3/configurations/web', body)).status).toBe(200);
    expect((await other.call('PUT', '/v3/components', [{ id: 'n1' }, { id: 'n2' }])).status).toBe(200);
    for (const name of ['one', 'two']) {
      expect((await other.call('POST', '/v3/sessions', { name, configuration_name: 'web' })).status).toBe(201);
    }
    const id = await sessionId(db, 'one');
    other.now.value = new Date(other.now.value.getTime() + 4 * 60_000);
    const kinds = async () =>
      (await other.call('GET', '/api/v1/fleet/attention')).body.items.map(({ kind }: { kind: string }) => kind);
    expect(await kinds()).not.toContain('waiting_session');
    other.now.value = new Date(other.now.value.getTime() + 2 * 60_000);
    await sql`insert into drift (component_id, clone_url, playbook, commit, configuration, layer, status, changed, changes,
        changes_left_out, session_id, session_name, checked_at)
      values ('n2', 'https://git.example.test/one.git', 'site.yml', ${'a'.repeat(40)}, 'web', 0, 'drifted', 1, '[]', 0, ${id}, 'one',
        ${other.now.value})`.execute(db);
    await eventually('it waits for long', async () => (await kinds()).includes('drift'));
    const { items: told } = (await other.call('GET', '/api/v1/fleet/attention')).body;
    expect(told).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'waiting_session', count: 2, link: { page: 'sessions', name: 'one', id } }),
        expect.objectContaining({ kind: 'drift', count: 1, link: { page: 'drift', name: null, id: null } }),
        expect.objectContaining({ kind: 'workers_away', reason: 'no worker has asked for work' }),
      ]),
    );
    const drifted = await other.call('GET', '/api/v1/components?drift=drifted');
    expect(drifted.body.components.map((one: { id: string }) => one.id)).toEqual(['n2']);
    expect((await other.call('GET', '/api/v1/components?drift=no')).status).toBe(400);
  } finally {
    await other.close();
  }
});
