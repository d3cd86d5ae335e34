/** Runs of schedules beside a stop of everything: nothing is made behind its cancel. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { beginScheduleRun } from '../../control/schedules/begin-schedule-run.ts';
import { performScheduleRun } from '../../control/schedules/perform-schedule-run.ts';
import type { ScheduleAction } from '../../domain/schedules/schedule-schema.ts';
import { findScheduleRun, lockScheduleRun } from '../../store/schedules/schedule-runs.ts';
import { pauseActiveSchedules } from '../../store/schedules/schedules.ts';
import { eventually } from '../support/eventually.ts';
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
  await must('POST', '/api/v1/go', {});
  const layers = [{ clone_url: 'https://git.test/a.git', playbook: 'site.yml', commit: 'a'.repeat(40) }];
  await must('PUT', '/v3/configurations/web', { layers });
  await must('PUT', '/v3/components', [{ id: 'web1', desired_config: 'web' }]);
});

const SESSION: ScheduleAction = { session: { configuration_name: 'web' } };
const CHECK: ScheduleAction = { check: { filter: {} } };
const REFRESH: ScheduleAction = { refresh: {} };

async function must(method: string, path: string, body?: unknown) {
  const answer = await api.call(method, path, body);
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
  return answer.body;
}

const stop = () => must('POST', '/api/v1/stop', { reason: 'the cooling fails' });
const make = (action: ScheduleAction) =>
  must('POST', '/api/v1/schedules', { name: `s-${randomUUID().slice(0, 8)}`, cron: '0 3 * * *', action });
const begin = ({ id }: { id: string }) =>
  beginScheduleRun(api.deps, { scheduleId: id, scheduledAt: new Date('2026-11-21T03:00:00Z'), workflowId: 'w1' });
const perform = (id: string) => performScheduleRun(api.deps, id, new AbortController().signal);

async function begun(action: ScheduleAction): Promise<string> {
  const id = await begin(await make(action));
  if (id === null) throw new Error('it did not begin');
  return id;
}

const sessions = () => api.database.db.selectFrom('sessions').select(['name', 'status']).execute();

const waits = () =>
  eventually('a statement waits for a lock', async () => {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(api.database.db);
    return rows.length > 0;
  });

describe('a run that began before a stop', () => {
  test.each([
    ['session', SESSION],
    ['check', CHECK],
  ])('and has made no session makes none: a %s', async (_, action) => {
    const id = await begun(action);
    await stop();
    expect(await findScheduleRun(api.database.db, id)).toMatchObject({
      ...{ state: 'cancelled', error_code: 'cancelled', error: 'everything is stopped: the cooling fails' },
    });
    expect(await perform(id)).toBe('over');
    expect(await sessions()).toEqual([]);
  });

  test('and is making its session is waited for: the session is cancelled with all others', async () => {
    const id = await begun(SESSION);
    let stopping: Promise<unknown> = Promise.resolve();
    await api.database.db.transaction().execute(async (trx) => {
      await lockScheduleRun(trx, id);
      stopping = stop();
      await waits();
      // As the transaction that makes the session notes it.
      await trx
        .updateTable('schedule_runs')
        .set({ result: JSON.stringify({ sessions: ['made'], session_ids: [id] }) })
        .where('id', '=', id)
        .execute();
    });
    await stopping;
    expect(await findScheduleRun(api.database.db, id)).toMatchObject({
      state: 'running',
      result: { session_ids: [id] },
    });
    expect(await perform(id)).toBe('following');
    expect(await sessions()).toEqual([]);
  });

  test('and has made its session stays, and its session is cancelled', async () => {
    const id = await begun(SESSION);
    expect(await perform(id)).toBe('following');
    await stop();
    expect(await findScheduleRun(api.database.db, id)).toMatchObject({ state: 'running' });
    expect(await sessions()).toMatchObject([{ status: 'complete' }]);
  });

  test('and makes no sessions goes on to its end', async () => {
    const id = await begun(REFRESH);
    await stop();
    expect(await perform(id)).toBe('over');
    expect(await findScheduleRun(api.database.db, id)).toMatchObject({ state: 'succeeded' });
  });
});

test('a run that was asked for before a stop does not begin after it; one that is asked for later does', async () => {
  const schedule = await make(SESSION);
  const asked = await must('POST', `/api/v1/schedules/${schedule.name}/trigger`);
  await stop();
  const beginAsked = ({ scheduled_at }: { scheduled_at: string }) =>
    beginScheduleRun(api.deps, { scheduleId: schedule.id, scheduledAt: new Date(scheduled_at), workflowId: 'w1' });
  expect(await beginAsked(asked)).toBeNull();
  api.now.value = new Date(api.now.value.getTime() + 60_000);
  const later = await must('POST', `/api/v1/schedules/${schedule.name}/trigger`);
  expect(await beginAsked(later)).toBe(later.id);
});

test('a run that begins while its schedule is being paused waits for that, and is left out', async () => {
  const schedule = await make(SESSION);
  let beginning: Promise<string | null> = Promise.resolve(null);
  await api.database.db.transaction().execute(async (trx) => {
    await pauseActiveSchedules(trx, { note: '', now: api.now.value, actor: null });
    beginning = begin(schedule);
    await waits();
  });
  expect(await beginning).toBeNull();
  const { runs } = await must('GET', `/api/v1/schedules/${schedule.name}/runs`);
  expect(runs).toMatchObject([{ state: 'skipped', error: { code: 'schedule_paused' } }]);
});
