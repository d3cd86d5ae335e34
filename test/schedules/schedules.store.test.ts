/** Records of schedules and runs, the actions of runs, and the reconciliation with an engine in memory. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { beginScheduleRun } from '../../control/schedules/begin-schedule-run.ts';
import { cancelScheduleRun, failScheduleRun, followScheduleRun } from '../../control/schedules/end-schedule-run.ts';
import { performScheduleRun } from '../../control/schedules/perform-schedule-run.ts';
import { reconcileUserSchedules } from '../../control/schedules/reconcile-schedules.ts';
import { createScheduleSweep } from '../../control/schedules/sweep-schedules.ts';
import { musterError } from '../../domain/errors.ts';
import type { ScheduleAction } from '../../domain/schedules/schedule-schema.ts';
import { findScheduleRun, type ScheduleRunRow } from '../../store/schedules/schedule-runs.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';
import { type FakeSchedules, fakeSchedules } from '../support/temporal/fake-schedules.ts';

let api: TestApi;
let engine: FakeSchedules;
let schedule: { id: string; name: string };
beforeAll(async () => {
  engine = fakeSchedules();
  api = await createTestApi({ schedules: engine });
});
afterAll(() => api.close());

beforeEach(async () => {
  engine.away = null;
  api.now.value = new Date('2026-11-21T10:00:00Z');
  await api.database.db.deleteFrom('schedules').execute();
  engine.has.clear();
  engine.triggered = [];
  engine.open.clear();
  engine.says.busy = false;
  schedule = await make({ refresh: {} });
});

async function make(action: ScheduleAction, more: object = {}): Promise<{ id: string; name: string }> {
  const name = `s-${randomUUID().slice(0, 8)}`;
  const { status, body } = await api.call('POST', '/api/v1/schedules', { name, cron: '0 3 * * *', action, ...more });
  expect(status).toBe(201);
  return body;
}

const path = () => `/api/v1/schedules/${schedule.name}`;
const at = (second: number) => new Date(Date.parse('2026-11-21T03:00:00Z') + second * 1000);

function begin(second = 0, workflowId = 'w1'): Promise<string | null> {
  return beginScheduleRun(api.deps, { scheduleId: schedule.id, scheduledAt: at(second), workflowId });
}

async function begun(action: ScheduleAction): Promise<string> {
  schedule = await make(action);
  const runId = await begin();
  if (runId === null) throw new Error('it did not begin');
  return runId;
}

async function run(id: string): Promise<ScheduleRunRow> {
  const row = await findScheduleRun(api.database.db, id);
  if (row === null) throw new Error('no run');
  return row;
}

const perform = (id: string, deps = api.deps) => performScheduleRun(deps, id, new AbortController().signal);
const reconcile = (thorough = false) => reconcileUserSchedules(api.deps, { thorough });

describe('the beginning of a run', () => {
  test('is one, however often it is told', async () => {
    const ids = await Promise.all([begin(), begin(), begin(), begin()]);
    expect(new Set(ids).size).toBe(1);
    expect(await run(ids[0] ?? '')).toMatchObject({
      state: 'running',
      by_hand: false,
      workflow_id: 'w1',
      action: { refresh: {} },
    });
    expect(await begin(1)).not.toBe(ids[0]);
  });

  test('keeps the action as it was', async () => {
    const id = (await begin()) ?? '';
    await api.call('PATCH', path(), { action: { reconfigure: { filter: {} } } });
    expect(await begin()).toBe(id);
    expect((await run(id)).action).toEqual({ refresh: {} });
  });

  test('is none when the run has ended or the schedule is gone', async () => {
    const id = (await begin()) ?? '';
    await failScheduleRun(api.deps, id, { code: 'internal', detail: 'x' });
    expect(await begin()).toBeNull();
    await api.call('DELETE', path());
    expect(await begin(1)).toBeNull();
    expect(await findScheduleRun(api.database.db, id)).toBeNull();
  });

  test('of a paused schedule is left out and says so, unless somebody asked for it', async () => {
    await api.call('POST', `${path()}/pause`, {});
    expect(await begin()).toBeNull();
    const { body } = await api.call('GET', `${path()}/runs`);
    expect(body.runs).toMatchObject([{ state: 'skipped', error: { code: 'schedule_paused' } }]);
    const asked = await api.call('POST', `${path()}/trigger`);
    const begins = { scheduleId: schedule.id, scheduledAt: new Date(asked.body.scheduled_at), workflowId: 'w2' };
    expect(await beginScheduleRun(api.deps, begins)).toBe(asked.body.id);
  });

  test('leaves the newest hundred runs, and older ones that go on', async () => {
    const first = await begin(0);
    for (let second = 1; second <= 110; second += 1) {
      const id = (await begin(second)) ?? '';
      await failScheduleRun(api.deps, id, { code: 'internal', detail: 'x' });
    }
    await begin(111);
    const { body } = await api.call('GET', `${path()}/runs?limit=1000`);
    expect(body.runs).toHaveLength(101);
    expect(body.runs.at(-1).id).toBe(first);
    expect(body.runs.at(-2).scheduled_at).toBe('2026-11-21T03:00:12Z');
  });
});

describe('the end of a run', () => {
  test('is written once', async () => {
    const id = (await begin()) ?? '';
    await failScheduleRun(api.deps, id, { code: 'disk_low', detail: 'first' });
    await failScheduleRun(api.deps, id, { code: 'internal', detail: 'second' });
    await cancelScheduleRun(api.deps, id);
    expect(await run(id)).toMatchObject({ state: 'failed', error_code: 'disk_low', error: 'first' });
    expect(await perform(id)).toBe('over');
  });
});

describe('reconfigure', () => {
  const applied = { clone_url: 'u', playbook: 'p', commit: 'c', status: 'applied', session_name: 's' };

  beforeEach(async () => {
    await api.database.db.deleteFrom('components').execute();
    await api.call('PUT', '/v3/components', [
      { id: 'web1', tags: { role: 'web' }, state: [applied], error_count: 2 },
      { id: 'web2', tags: { role: 'web' }, state: [applied], enabled: false },
      { id: 'db1', tags: { role: 'db' }, state: [applied] },
    ]);
  });
  const component = async (id: string) => (await api.call('GET', `/v3/components/${id}?state_details=true`)).body;

  test('clears the states of those that match, and nothing of the others', async () => {
    const id = await begun({ reconfigure: { filter: { tags: 'role=web' }, desired_config: 'new' } });
    expect(await perform(id)).toBe('over');
    expect(await component('web1')).toMatchObject({ state: [], error_count: 0, desired_config: 'new' });
    expect(await component('web2')).toMatchObject({ state: [], enabled: false });
    expect((await component('db1')).state).toHaveLength(1);
    expect(await run(id)).toMatchObject({
      state: 'succeeded',
      result: { components: { count: 2, ids: ['web1', 'web2'] } },
    });
    const row = await api.database.db.selectFrom('components').select('actor').where('id', '=', 'web1').execute();
    expect(row).toEqual([{ actor: `schedule/${schedule.name}` }]);
  });

  test('is done once: what was reached meanwhile stays', async () => {
    const id = await begun({ reconfigure: { filter: {} } });
    expect(await Promise.allSettled([perform(id), perform(id)])).toContainEqual({ status: 'fulfilled', value: 'over' });
    await api.call('PATCH', '/v3/components/web1', { state_append: applied });
    expect(await perform(id)).toBe('over');
    expect((await component('web1')).state).toHaveLength(1);
    expect((await run(id)).result).toEqual({ components: { count: 3, ids: ['db1', 'web1', 'web2'] } });
  });

  test('of none is done too', async () => {
    const id = await begun({ reconfigure: { filter: { config_name: 'absent' } } });
    await perform(id);
    expect(await run(id)).toMatchObject({ state: 'succeeded', result: { components: { count: 0, ids: [] } } });
  });
});

describe('refresh', () => {
  const layer = { clone_url: 'https://git.test/a.git', playbook: 'site.yml' };
  const commit = (digit: string) => digit.repeat(40);

  beforeEach(async () => {
    await api.database.db.deleteFrom('configurations').execute();
    api.refs.clear();
    for (const branch of ['main', 'next']) api.refs.set(`${layer.clone_url} ${branch}`, commit('a'));
    await api.call('PUT', '/v3/configurations/moves', { layers: [{ ...layer, branch: 'main' }] });
    await api.call('PUT', '/v3/configurations/stays', { layers: [{ ...layer, branch: 'next' }] });
    await api.call('PUT', '/v3/configurations/pinned', { layers: [{ ...layer, commit: commit('b') }] });
    api.refs.set(`${layer.clone_url} main`, commit('c'));
  });
  const commitOf = async (name: string) => (await api.call('GET', `/v3/configurations/${name}`)).body.layers[0].commit;

  test('resolves all that have a branch, and says which changed', async () => {
    const id = await begun({ refresh: {} });
    expect(await perform(id)).toBe('over');
    expect(await run(id)).toMatchObject({
      state: 'succeeded',
      result: { configurations: { unchanged: 1, changed: ['moves'], failed: [] } },
    });
    expect([await commitOf('moves'), await commitOf('stays'), await commitOf('pinned')]).toEqual(
      ['c', 'a', 'b'].map(commit),
    );
    const rows = await api.database.db
      .selectFrom('configurations')
      .select('actor')
      .where('name', '=', 'moves')
      .execute();
    expect(rows).toEqual([{ actor: `schedule/${schedule.name}` }]);
  });

  test('of some leaves the others; one that fails does not keep the rest from it', async () => {
    api.refs.delete(`${layer.clone_url} next`);
    const id = await begun({ refresh: { configurations: ['stays', 'absent', 'moves'] } });
    await perform(id);
    const { state, error_code, error, result } = await run(id);
    expect([state, error_code]).toEqual(['failed', 'refresh_failed']);
    expect(error).toContain('absent: Configuration absent could not be found; stays: next');
    expect(result?.configurations).toMatchObject({
      changed: ['moves'],
      failed: [
        { name: 'absent', code: 'configuration_not_found' },
        { name: 'stays', code: 'branch_not_resolved' },
      ],
    });
    expect(await commitOf('moves')).toBe(commit('c'));
  });

  test('is tried again when what failed may pass', async () => {
    const id = await begun({ refresh: {} });
    const git = {
      resolveRef: async () => {
        throw musterError('storage_unavailable', 'away');
      },
    };
    await expect(perform(id, { ...api.deps, git })).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect((await run(id)).state).toBe('running');
    await perform(id);
    expect((await run(id)).state).toBe('succeeded');
  });
});

describe('session', () => {
  const call: TestApi['call'] = (...request) => api.call(...request);
  const action: ScheduleAction = {
    session: { configuration_name: 'web', name_prefix: 'night', tags: { why: 'night' } },
  };

  beforeEach(async () => {
    await api.database.db.deleteFrom('sessions').execute();
    const layers = [{ clone_url: 'https://git.test/a.git', playbook: 'site.yml', commit: 'a'.repeat(40) }];
    await call('PUT', '/v3/configurations/web', { layers });
  });

  const nameOf = async (id: string) => (await run(id)).result?.sessions?.[0] ?? '';
  const complete = (name: string, set: object) =>
    api.database.db
      .updateTable('sessions')
      .set({ status: 'complete', ...set })
      .where('name', '=', name)
      .execute();

  test('is made once, under the name of the run, and the run lasts as long as it does', async () => {
    const id = await begun(action);
    expect([await perform(id), await perform(id)]).toEqual(['following', 'following']);
    const name = `night-20261121030000-${schedule.id.slice(0, 4)}`;
    expect(await nameOf(id)).toBe(name);
    const { body } = await call('GET', '/v3/sessions');
    expect(body.sessions).toMatchObject([{ name, tags: { why: 'night' }, configuration: { name: 'web' } }]);
    expect(await followScheduleRun(api.deps, id)).toBe(false);
    await complete(name, { succeeded: 'true' });
    expect(await followScheduleRun(api.deps, id)).toBe(true);
    expect(await run(id)).toMatchObject({ state: 'succeeded', result: { sessions: [name] }, error: null });
  });

  test.each([
    [{ succeeded: 'false' as const, reason: 'run_lost', message: 'lost' }, 'run_lost', /^session night-.*: lost$/],
    [{ succeeded: 'unknown' as const, reason: null, message: 'who knows' }, 'session_failed', /: who knows$/],
  ])('that ends with %j is a failed run', async (set, code, sentence) => {
    const id = await begun(action);
    await perform(id);
    await complete(await nameOf(id), set);
    await followScheduleRun(api.deps, id);
    const { state, error_code, error } = await run(id);
    expect([state, error_code]).toEqual(['failed', code]);
    expect(error).toMatch(sentence);
  });

  test('that is deleted is a failed run', async () => {
    const id = await begun(action);
    await perform(id);
    await call('DELETE', `/v3/sessions/${await nameOf(id)}`);
    expect(await followScheduleRun(api.deps, id)).toBe(true);
    expect(await run(id)).toMatchObject({ state: 'failed', error_code: 'session_deleted' });
  });

  test('whose name somebody else has taken is refused', async () => {
    schedule = await make(action);
    const name = `night-20261121030000-${schedule.id.slice(0, 4)}`;
    await call('POST', '/v3/sessions', { name, configuration_name: 'web' });
    const id = (await begin()) ?? '';
    await expect(perform(id)).rejects.toMatchObject({ code: 'session_exists' });
  });

  test('of a run that is cancelled is cancelled', async () => {
    const id = await begun(action);
    await perform(id);
    await cancelScheduleRun(api.deps, id);
    expect(await run(id)).toMatchObject({ state: 'cancelled', error_code: 'cancelled' });
    const row = await api.database.db.selectFrom('sessions').selectAll().executeTakeFirstOrThrow();
    expect(row).toMatchObject({ cancel_actor: `schedule/${schedule.name}` });
    expect(row.cancel_reason).toContain(schedule.name);
  });

  test('of a schedule that is deleted goes on', async () => {
    const id = await begun(action);
    await perform(id);
    await call('DELETE', path());
    expect(await followScheduleRun(api.deps, id)).toBe(true);
    await cancelScheduleRun(api.deps, id);
    await failScheduleRun(api.deps, id, { code: 'internal', detail: 'x' });
    const row = await api.database.db.selectFrom('sessions').selectAll().executeTakeFirstOrThrow();
    expect([row.status, row.cancel_requested_at]).toEqual(['pending', null]);
  });
});

describe('check', () => {
  test('makes sessions that look, and waits for them', async () => {
    await api.database.db.deleteFrom('sessions').execute();
    await api.database.db.deleteFrom('components').execute();
    const layers = [{ clone_url: 'https://git.test/a.git', playbook: 'site.yml', commit: 'a'.repeat(40) }];
    await api.call('PUT', '/v3/configurations/web', { layers });
    await api.call('PUT', '/v3/components', [{ id: 'web1', desired_config: 'web' }, { id: 'web2' }]);
    const id = await begun({ check: { filter: { ids: 'web1' }, reconfigure: true } });
    expect([await perform(id), await perform(id)]).toEqual(['following', 'following']);
    const { body } = await api.call('GET', '/v3/sessions');
    expect(body.sessions).toMatchObject([
      { configuration: { name: 'web' }, ansible: { limit: 'web1' }, muster: { check: true, reconfigure: true } },
    ]);
    expect((await run(id)).result).toMatchObject({ sessions: [body.sessions[0].name] });
  });

  test('of nothing is over at once', async () => {
    const id = await begun({ check: { filter: { ids: 'absent' } } });
    expect(await perform(id)).toBe('over');
    expect(await run(id)).toMatchObject({ state: 'succeeded', result: { components: { count: 0, ids: [] } } });
  });
});

describe('the reconciliation', () => {
  test('makes what is missing, brings what differs, removes what has no record', async () => {
    const [lost, paused] = [await make({ refresh: {} }), await make({ refresh: {} })];
    engine.has.delete(lost.name);
    const found = engine.has.get(paused.name);
    if (found) engine.has.set(paused.name, { ...found, paused: true });
    if (found) engine.has.set('orphan', { ...found, name: 'orphan' });
    await reconcile();
    expect([...engine.has.keys()].sort()).toEqual([lost.name, paused.name, schedule.name].sort());
    expect(engine.has.get(paused.name)?.paused).toBe(false);
  });

  test('compares every schedule when it is thorough', async () => {
    const found = engine.has.get(schedule.name);
    if (!found) throw new Error('it is not there');
    const wrong = { ...found, record: { ...found.record, cron: '5 5 5 5 *' } };
    engine.has.set(schedule.name, wrong);
    await reconcile();
    expect(engine.has.get(schedule.name)).toBe(wrong);
    await reconcile(true);
    expect(engine.has.get(schedule.name)?.record.cron).toBe('0 3 * * *');
  });

  test('brings what was written while the engine was away', async () => {
    engine.away = 'no answer';
    await api.call('PATCH', path(), { cron: '0 4 * * *' });
    await expect(reconcile()).rejects.toThrow('no answer');
    engine.away = null;
    await reconcile();
    expect(engine.has.get(schedule.name)?.record.cron).toBe('0 4 * * *');
    expect((await api.call('GET', path())).body).toMatchObject({ synced: true, sync_error: null });
  });

  test('of two that write at the same time leaves the newer', async () => {
    engine.meanwhile = async () => {
      await api.call('PATCH', path(), { cron: '0 6 * * *' });
    };
    const older = await api.call('PATCH', path(), { cron: '0 5 * * *' });
    expect(older.body).toMatchObject({ cron: '0 6 * * *', synced: true });
    expect(engine.has.get(schedule.name)?.record.cron).toBe('0 6 * * *');
  });

  test('a schedule that is deleted while the engine is told of it is gone there too', async () => {
    engine.meanwhile = async () => {
      await api.call('DELETE', path());
    };
    await api.call('PATCH', path(), { cron: '0 5 * * *' });
    expect(engine.has.size).toBe(0);
  });

  test('tells the engine of runs that were asked for while it was away, once', async () => {
    engine.away = 'no answer';
    const { body } = await api.call('POST', `${path()}/trigger`);
    expect(body).toMatchObject({ state: 'requested', synced: false, sync_error: 'no answer' });
    engine.away = null;
    await reconcile();
    await reconcile();
    expect(engine.triggered).toEqual([{ name: schedule.name, overlap: 'skip', at: '2026-11-21T10:00:00.000Z' }]);
  });

  test('tells it again of one that it has forgotten, but not of one that waits, and gives up at last', async () => {
    const { body } = await api.call('POST', `${path()}/trigger`);
    engine.says.busy = true;
    api.now.value = new Date('2026-11-21T10:01:00Z');
    await reconcile();
    expect(engine.triggered).toHaveLength(1);
    engine.says.busy = false;
    await reconcile();
    expect(engine.triggered).toHaveLength(2);
    api.now.value = new Date('2026-11-21T10:20:00Z');
    await reconcile();
    expect(engine.triggered).toHaveLength(2);
    expect(await run(body.id)).toMatchObject({ state: 'failed', error_code: 'workflow_ended' });
  });

  test('ends runs whose workflow is gone, and leaves those alone whose workflow is open', async () => {
    const [gone, open] = [(await begin(0, 'gone')) ?? '', (await begin(1, 'open')) ?? ''];
    engine.open.add('open');
    await reconcile();
    expect((await run(gone)).state).toBe('running');
    api.now.value = new Date('2026-11-21T10:01:00Z');
    await reconcile();
    expect(await run(gone)).toMatchObject({ state: 'failed', error_code: 'workflow_ended' });
    expect((await run(open)).state).toBe('running');
  });

  test('is part of the sweep, which compares every schedule at first and then each quarter of an hour', async () => {
    const sweep = createScheduleSweep(api.deps);
    const wrong = () => {
      const found = engine.has.get(schedule.name);
      if (!found) throw new Error('it is not there');
      engine.has.set(schedule.name, { ...found, record: { ...found.record, cron: '5 5 5 5 *' } });
    };
    const cronAfter = async (minutes: number) => {
      api.now.value = new Date(Date.parse('2026-11-21T10:00:00Z') + minutes * 60_000);
      await sweep();
      return engine.has.get(schedule.name)?.record.cron;
    };
    wrong();
    expect(await cronAfter(0)).toBe('0 3 * * *');
    wrong();
    expect(await cronAfter(14)).toBe('5 5 5 5 *');
    expect(await cronAfter(15)).toBe('0 3 * * *');
    engine.away = 'no answer';
    wrong();
    await expect(cronAfter(30)).rejects.toThrow('no answer');
    engine.away = null;
    // What failed is not taken for done.
    expect(await cronAfter(31)).toBe('0 3 * * *');
  });

  test('is what the log says where Temporal is away: the record says so too, and the request is answered', async () => {
    engine.away = 'no answer';
    const before = api.logged.length;
    expect((await api.call('PATCH', path(), { cron: '0 4 * * *' })).status).toBe(200);
    expect((await api.call('POST', `${path()}/trigger`)).status).toBe(202);
    const warnings = api.logged.slice(before).filter(({ level }) => level === 40);
    const warning = { schedule: schedule.name, err: 'no answer' };
    expect(warnings).toMatchObject([warning, warning]);
    expect(warnings[0]?.msg).toBe('Temporal was not told of a schedule; the sweep tells it');
  });
});
