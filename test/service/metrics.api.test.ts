import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openRun } from '../../control/runs/open-run.ts';
import { openDatabase } from '../../store/connection/database.ts';
import { markRunEnded, markRunStarted } from '../../store/runs/runs.ts';
import { admit } from '../../store/sessions/admission.ts';
import { writeEnd } from '../../store/sessions/write-end.ts';
import { makeDeployment } from '../deployments/placement-fixtures.ts';
import { freePort } from '../support/free-port.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());

/** Value of each sample by its name and labels; every line must be one that Prometheus can read. */
async function scrape(from: TestApi): Promise<Record<string, number>> {
  const answer = await from.app.inject({ method: 'GET', url: '/metrics' });
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  const lines = answer.body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^([a-z_:][a-zA-Z0-9_:]*(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
      if (name === undefined) throw new Error(`no sample: ${line}`);
      return [name, Number(value)];
    }),
  );
}

/** The id of a new session. */
async function created(name: string): Promise<string> {
  const answer = await api.call('POST', '/v3/sessions', { name, configuration_name: 'one' });
  expect(answer.status).toBe(201);
  const row = await api.deps.db.selectFrom('sessions').select('id').where('name', '=', name).executeTakeFirstOrThrow();
  return row.id;
}

test('sessions are counted on their way, and for ever when they ended', async () => {
  await api.call('PUT', '/v3/configurations/one', {
    layers: [{ clone_url: 'https://git.example.test/one.git', playbook: 'site.yml', commit: 'a'.repeat(40) }],
  });
  const [first, second] = [await created('metrics-1'), await created('metrics-2')];
  const before = await scrape(api);
  expect(before['muster_sessions{status="pending"}']).toBe(2);
  expect(before.muster_queue_length).toBe(2);
  expect(before.muster_outbox_length).toBe(2);

  await admit(api.deps.db, first, { job: 'cfs-1', maxRunning: 5, now: new Date() });
  const during = await scrape(api);
  expect([during.muster_sessions_admitted, during.muster_queue_length]).toEqual([1, 1]);
  expect(during.muster_session_schedule_to_start_seconds_count).toBe(1);

  for (const [id, succeeded] of [
    [first, 'true'],
    [second, 'false'],
  ] as const) {
    await writeEnd(api.deps.db, id, { succeeded, message: 'done', reason: null }, new Date());
    await writeEnd(api.deps.db, id, { succeeded, message: 'again', reason: null }, new Date());
  }
  await api.call('DELETE', '/v3/sessions?age=');
  const after = await scrape(api);
  expect(after['muster_sessions_ended_total{succeeded="true"}']).toBe(1);
  expect(after['muster_sessions_ended_total{succeeded="false"}']).toBe(1);
  expect(after['muster_session_work_seconds_bucket{le="+Inf"}']).toBe(1);
});

test('requests are counted by their route, not by their path', async () => {
  await scrape(api);
  for (const id of ['x1', 'x2', 'x3']) await api.call('GET', `/v3/components/${id}`);
  const counted = await scrape(api);
  expect(
    counted['muster_http_request_seconds_count{method="GET",route="/v3/components/:component_id",status="404"}'],
  ).toBe(3);
  expect(Object.keys(counted).filter((name) => name.includes('x1'))).toEqual([]);
});

test('a process without a database tells of itself', async () => {
  const port = await freePort();
  const away = await createTestApi({ db: openDatabase({ url: `postgres://nobody@127.0.0.1:${port}/none` }) });
  const counted = await scrape(away);
  expect(counted.muster_database_up).toBe(0);
  expect(counted.process_cpu_seconds_total).toBeGreaterThan(0);
  expect(Object.keys(counted).some((name) => name.startsWith('muster_sessions'))).toBe(false);
  await away.close();
  await away.deps.db.destroy();
});

describe('the batcher', () => {
  test('shows what is left of its back-off, and nothing of it afterwards', async () => {
    const { db } = api.deps;
    await db
      .updateTable('batcher_state')
      .set({ backoff_length: 60, backoff_start: new Date(api.now.value.getTime() - 20_000) })
      .execute();
    expect((await scrape(api)).muster_batcher_backoff_seconds).toBeCloseTo(40);
    api.now.value = new Date(api.now.value.getTime() + 100_000);
    expect((await scrape(api)).muster_batcher_backoff_seconds).toBe(0);
  });
});

test('the fleet is counted by status, rollouts by state, and what failed by itself', async () => {
  const layers = [{ clone_url: 'https://git.example.test/fleet.git', playbook: 'site.yml', commit: 'b'.repeat(40) }];
  await api.call('PUT', '/v3/configurations/fleet', { layers });
  const body = { desired_config: 'fleet' };
  const applied = { ...layers[0], status: 'applied', session_name: 's' };
  const records = [
    { id: 'f1', ...body, enabled: true },
    { id: 'f2', ...body, enabled: true, error_count: 3 },
    { id: 'f3', ...body, enabled: true, state: [applied] },
    { id: 'f4', ...body, enabled: false },
    { id: 'f5' },
  ];
  const before = await scrape(api);
  expect((await api.call('PUT', '/v3/components', records)).status).toBe(200);
  const { db } = api.deps;
  const now = new Date();
  await db
    .insertInto('rollouts')
    .values({
      configuration: 'fleet',
      version: 'v',
      state: 'stopped',
      stage: 'canary',
      created_at: now,
      updated_at: now,
    })
    .execute();
  const after = await scrape(api);
  const grown = (name: string) => (after[name] ?? 0) - (before[name] ?? 0);
  expect(grown('muster_components{status="pending",enabled="true"}')).toBe(1);
  expect(grown('muster_components{status="failed",enabled="true"}')).toBe(1);
  expect(grown('muster_components{status="configured",enabled="true"}')).toBe(1);
  expect(grown('muster_components{status="pending",enabled="false"}')).toBe(1);
  expect(grown('muster_components{status="unconfigured",enabled="false"}')).toBe(1);
  expect(grown('muster_rollouts{state="stopped"}')).toBe(1);
  expect(after).toMatchObject({ muster_schedules_failed: 0, muster_batcher_keys_held: 0 });
});

test('deployments are counted by state, and clusters by whether they answer, without their names', async () => {
  const before = await scrape(api);
  const { group } = await makeDeployment(api.call, 'metered');
  await api.call('POST', `${group}/approve`);
  await api.call('POST', `${group}/instantiate`);
  const after = await scrape(api);
  const grown = (name: string) => (after[name] ?? 0) - (before[name] ?? 0);
  expect(grown('muster_contexts{state="Instantiating"}')).toBe(1);
  expect(grown('muster_clusters{connectivity="Unreachable"}')).toBe(1);
  expect(after['muster_contexts{state="TerminateFailed"}']).toBe(0);
  expect(JSON.stringify(after)).not.toContain('lab-metered');
});

test('runs that are silent, and those that are lost, are told', async () => {
  const { db } = api.deps;
  const open = { sessionId: null, layer: 0, attempt: 1, host: 'disk' };
  const hourAgo = new Date(api.now.value.getTime() - 3_600_000);
  for (const id of ['silent-1', 'silent-2']) {
    await openRun(db, { ...open, id, owner: { kind: 'toy', id }, streamId: id }, hourAgo);
    await markRunStarted(db, id, hourAgo);
  }
  const before = await scrape(api);
  expect(before.muster_run_silent_seconds).toBeCloseTo(3_600, 0);
  expect(before['muster_runs_lost_total{owner="session"}']).toBe(0);
  for (const id of ['silent-1', 'silent-2', 'silent-2']) await markRunEnded(db, id, 'lost', null, api.now.value);
  const after = await scrape(api);
  expect(after['muster_runs_lost_total{owner="toy"}']).toBe(2);
  expect(after.muster_run_silent_seconds).toBe(0);
});

test('what stands beside the database is told, and only what is known', async () => {
  const told = await scrape(api);
  expect([told.muster_engine_up, told.muster_workers]).toEqual([1, 1]);
  expect(told['muster_task_queue_length{queue="own"}']).toBe(0);
  expect(told['muster_task_queue_oldest_seconds{queue="main"}']).toBe(0);
  expect(told.muster_database_bytes).toBeGreaterThan(0);
  expect(told.muster_disk_free_bytes).toBeGreaterThan(0);
  const alone = await createTestApi({
    engineHealth: async () => ({ ok: false, reason: 'away' }),
    readWorkers: () => Promise.reject(new Error('away')),
    readQueues: () => Promise.reject(new Error('away')),
    dataDir: '/nowhere',
  });
  const less = await scrape(alone);
  await alone.close();
  expect(less.muster_engine_up).toBe(0);
  expect(Object.keys(less)).not.toContain('muster_workers');
  expect(Object.keys(less).filter((name) => /muster_(disk_free_bytes|task_queue)/.test(name))).toEqual([]);
});
