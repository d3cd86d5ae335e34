/** What needs attention, from records as they are. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
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
const items = async () => (await api.call('GET', '/api/v1/fleet/attention')).body.items;

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
  await setSession(api.deps.db, second, { phase: 'teardown' });
  for (const id of ['n1', 'n2', 'n3']) await send('PATCH', `/v3/components/${id}`, { error_count: 0 });
  await eventually('nothing needs attention', async () => (await items()).length === 0, 10_000);
});
