/** Runs know their sessions by id: whoever deletes one and makes another of its name has a session of his own. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { beginScheduleRun } from '../../control/schedules/begin-schedule-run.ts';
import { cancelScheduleRun, followScheduleRun } from '../../control/schedules/end-schedule-run.ts';
import { performScheduleRun } from '../../control/schedules/perform-schedule-run.ts';
import type { ScheduleAction } from '../../domain/schedules/schedule-schema.ts';
import { findScheduleRun, type ScheduleRunRow } from '../../store/schedules/schedule-runs.ts';
import type { SessionRow } from '../../store/sessions/sessions.ts';
import { findSession } from '../../store/sessions/sessions.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';
import { fakeSchedules } from '../support/temporal/fake-schedules.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi({ schedules: fakeSchedules() });
});
afterAll(() => api.close());

beforeEach(async () => {
  for (const table of ['schedules', 'sessions', 'components', 'drift_checks'] as const) {
    await api.database.db.deleteFrom(table).execute();
  }
  const layers = [{ clone_url: 'https://git.test/a.git', playbook: 'site.yml', commit: 'a'.repeat(40) }];
  await api.call('PUT', '/v3/configurations/web', { layers });
  await api.call('PUT', '/v3/configurations/db', { layers });
  await api.call('PUT', '/v3/components', [
    { id: 'web1', desired_config: 'web' },
    { id: 'db1', desired_config: 'db' },
  ]);
});

const SESSION: ScheduleAction = { session: { configuration_name: 'web', name_prefix: 'night' } };
/** Makes two sessions. */
const CHECK: ScheduleAction = { check: { filter: {} } };

const perform = (id: string) => performScheduleRun(api.deps, id, new AbortController().signal);

async function performed(action: ScheduleAction): Promise<{ id: string; schedule: string; names: string[] }> {
  const schedule = `s-${randomUUID().slice(0, 8)}`;
  const made = await api.call('POST', '/api/v1/schedules', { name: schedule, cron: '0 3 * * *', action });
  const scheduledAt = new Date('2026-11-21T03:00:00Z');
  const id = await beginScheduleRun(api.deps, { scheduleId: made.body.id, scheduledAt, workflowId: 'w1' });
  if (id === null) throw new Error('it did not begin');
  expect(await perform(id)).toBe('following');
  return { id, schedule, names: (await run(id)).result?.sessions ?? [] };
}

async function run(id: string): Promise<ScheduleRunRow> {
  const row = await findScheduleRun(api.database.db, id);
  if (row === null) throw new Error('no run');
  return row;
}

async function session(name = ''): Promise<SessionRow> {
  const row = await findSession(api.database.db, name);
  if (row === null) throw new Error(`no session ${name}`);
  return row;
}

/** Deletes the session and makes another of its name, as a user may. */
async function makeAgain(name = ''): Promise<void> {
  expect((await api.call('DELETE', `/v3/sessions/${name}`)).status).toBe(204);
  expect((await api.call('POST', '/v3/sessions', { name, configuration_name: 'web' })).status).toBe(201);
}

async function complete(name = ''): Promise<void> {
  const end = { status: 'complete', succeeded: 'true' } as const;
  const live = api.database.db.updateTable('sessions').set(end).where('deleted_at', 'is', null);
  await live.where('name', '=', name).execute();
}

/** As the release before wrote it, which knew of no ids. */
async function forgetIds(): Promise<void> {
  await sql`update schedule_runs set result = result - 'session_ids'`.execute(api.database.db);
  await sql`update drift_checks set answer = answer - 'session_ids'`.execute(api.database.db);
}

const deleted = (name = '') => ({
  state: 'failed',
  error_code: 'session_deleted',
  error: `session ${name} was deleted`,
});

describe('a session that is deleted and made again', () => {
  test('is not waited for: the run failed, whatever becomes of the new one', async () => {
    const { id, names } = await performed(SESSION);
    await makeAgain(names[0]);
    expect(await followScheduleRun(api.deps, id)).toBe(true);
    expect(await run(id)).toMatchObject(deleted(names[0]));
  });

  test('does not make the run succeed', async () => {
    const { id, names } = await performed(SESSION);
    await makeAgain(names[0]);
    await complete(names[0]);
    expect(await followScheduleRun(api.deps, id)).toBe(true);
    expect(await run(id)).toMatchObject(deleted(names[0]));
  });

  test('is not of the run after a second try either', async () => {
    const { id, names } = await performed(SESSION);
    await makeAgain(names[0]);
    expect(await perform(id)).toBe('following');
    expect(await followScheduleRun(api.deps, id)).toBe(true);
    expect(await run(id)).toMatchObject(deleted(names[0]));
  });

  test('is left alone when the run is cancelled', async () => {
    const { id, names } = await performed(SESSION);
    await makeAgain(names[0]);
    await cancelScheduleRun(api.deps, id);
    expect((await run(id)).state).toBe('cancelled');
    expect(await session(names[0])).toMatchObject({ cancel_requested_at: null, cancel_actor: null });
  });

  test('of a check: the other one is waited for, and a second try knows both', async () => {
    const { id, names } = await performed(CHECK);
    expect(names).toHaveLength(2);
    await makeAgain(names[0]);
    expect(await perform(id)).toBe('following');
    expect(await followScheduleRun(api.deps, id)).toBe(false);
    await complete(names[1]);
    expect(await followScheduleRun(api.deps, id)).toBe(true);
    expect(await run(id)).toMatchObject(deleted(names[0]));
  });

  test('of a check that is cancelled: only the other one is cancelled', async () => {
    const { id, names } = await performed(CHECK);
    await makeAgain(names[0]);
    await cancelScheduleRun(api.deps, id);
    expect((await session(names[0])).cancel_requested_at).toBeNull();
    expect((await session(names[1])).cancel_requested_at).not.toBeNull();
  });
});

/** As a crash between making and noting them leaves it. */
async function forgetMade(id: string): Promise<void> {
  await api.database.db.updateTable('schedule_runs').set({ result: null }).where('id', '=', id).execute();
}

describe('a run that is broken off before it has noted its sessions', () => {
  test.each([
    ['session', SESSION],
    ['check', CHECK],
  ])('cancels them and shows them: a %s', async (_, action) => {
    const { id, names } = await performed(action);
    await forgetMade(id);
    await cancelScheduleRun(api.deps, id);
    for (const name of names) expect((await session(name)).cancel_requested_at).not.toBeNull();
    expect(await run(id)).toMatchObject({ state: 'cancelled', result: { sessions: names } });
  });

  test('leaves another session of that name alone', async () => {
    const { id, names } = await performed(SESSION);
    await forgetMade(id);
    await makeAgain(names[0]);
    await cancelScheduleRun(api.deps, id);
    expect((await session(names[0])).cancel_requested_at).toBeNull();
  });

  test('has nothing to cancel before it has made any', async () => {
    const { id, schedule } = await performed(SESSION);
    await forgetMade(id);
    await api.database.db.deleteFrom('sessions').execute();
    await cancelScheduleRun(api.deps, id);
    expect((await api.call('GET', `/api/v1/schedules/${schedule}/runs/${id}`)).body).toMatchObject({
      state: 'cancelled',
    });
  });
});

describe('a run of the release before', () => {
  test.each([
    ['session', SESSION],
    ['check', CHECK],
  ])('with a %s follows by name', async (_, action) => {
    const { id, names } = await performed(action);
    await forgetIds();
    expect(await followScheduleRun(api.deps, id)).toBe(false);
    for (const name of names) await complete(name);
    expect(await followScheduleRun(api.deps, id)).toBe(true);
    expect((await run(id)).state).toBe('succeeded');
  });

  test('cancels by name', async () => {
    const { id, names } = await performed(SESSION);
    await forgetIds();
    await cancelScheduleRun(api.deps, id);
    expect((await session(names[0])).cancel_requested_at).not.toBeNull();
  });

  test('that is tried again by this one has the names of its check, and goes by them', async () => {
    const { id, names } = await performed(CHECK);
    await forgetIds();
    expect(await perform(id)).toBe('following');
    expect((await run(id)).result).toEqual({ sessions: names });
    for (const name of names) await complete(name);
    await followScheduleRun(api.deps, id);
    expect((await run(id)).state).toBe('succeeded');
  });
});

describe('the ids', () => {
  test.each([
    ['session', SESSION],
    ['check', CHECK],
  ])('of a %s are kept in the order of the names, and no answer shows them', async (_, action) => {
    const { id, schedule, names } = await performed(action);
    const ids = await Promise.all(names.map(async (name) => (await session(name)).id));
    expect((await run(id)).result).toEqual({ sessions: names, session_ids: ids });
    const path = `/api/v1/schedules/${schedule}`;
    expect((await api.call('GET', `${path}/runs/${id}`)).body.result).toEqual({ sessions: names });
    expect((await api.call('GET', `${path}/runs`)).body.runs[0].result).toEqual({ sessions: names });
    expect((await api.call('GET', path)).body.last_run.result).toEqual({ sessions: names });
  });

  test('are not in the answer to a check', async () => {
    const { status, body } = await api.call('POST', '/api/v1/drift/checks', { filter: {} });
    expect([status, Object.keys(body)]).toEqual([201, ['sessions', 'components', 'left_out']]);
  });
});
