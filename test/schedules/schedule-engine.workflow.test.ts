/** Schedules on a real Temporal server: what it is told, when it fires, and what becomes of runs; records in a real database. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createScheduleActivities } from '../../activities/schedules/activities.ts';
import { reconcileUserSchedules } from '../../control/schedules/reconcile-schedules.ts';
import { createScheduleEngine } from '../../control/schedules/schedule-engine.ts';
import { MAIN_QUEUE } from '../../domain/engine/task-queues.ts';
import { translateFailures } from '../../worker/failure-interceptor.ts';
import { eventually } from '../support/eventually.ts';
import { describeNeeding } from '../support/requirement.ts';
import { startTestWorker } from '../support/stack/session-bench.ts';
import { type Answer, createTestApi, type TestApi } from '../support/stack/test-api.ts';
import { temporalMissing } from '../support/temporal/temporal-binary.ts';
import { openDevServer, type TestServer, workflowBundle } from '../support/temporal/workflow-environment.ts';

/** Once a year, so that no clock interferes. */
const YEARLY = '0 3 1 1 *';
/** For one exchange with Temporal, ms. The API of a site gives up after 3 s and makes up for it later, which no test here is about. */
const EXCHANGE_MS = 30_000;
/** A run looks at its sessions up to 30 s apart, and what waits for that run may wait for another one before it, ms. */
const LOOKS_MS = 120_000;

describeNeeding(temporalMissing(), 'schedules in Temporal', () => {
  let server: TestServer;
  let api: TestApi;
  let stopWorker: () => Promise<void>;
  let count = 0;
  beforeAll(async () => {
    server = await openDevServer();
    const { client } = server.environment;
    api = await createTestApi({
      schedules: createScheduleEngine(client, { exchangeMs: EXCHANGE_MS }),
      clock: () => new Date(),
    });
    stopWorker = await startTestWorker(server.environment, {
      taskQueue: MAIN_QUEUE,
      workflowBundle: await workflowBundle(),
      activities: { ...createScheduleActivities(api.deps) },
      interceptors: { activity: [() => ({ inbound: translateFailures() })] },
    });
    await api.call('PUT', '/v3/configurations/web', {
      layers: [{ clone_url: 'https://git.test/plays.git', playbook: 'site.yml', commit: 'a'.repeat(40) }],
    });
  });
  afterAll(async () => {
    await stopWorker?.();
    await api?.close();
    await server?.close();
  });

  const path = (name: string) => `/api/v1/schedules/${name}`;
  const handleOf = (name: string) => server.environment.client.schedule.getHandle(`schedule/${name}`);
  const reconcile = () => reconcileUserSchedules(api.deps, { thorough: true });

  /** Makes a schedule of its own and answers its name. */
  async function make(more: object = {}): Promise<string> {
    const name = `s${count++}`;
    const body = { name, cron: YEARLY, action: { refresh: {} }, ...more };
    const { status, body: made } = await api.call('POST', '/api/v1/schedules', body);
    expect({ status, synced: made.synced, error: made.sync_error }).toEqual({ status: 201, synced: true, error: null });
    return name;
  }

  const session = { session: { configuration_name: 'web' } };

  async function trigger(name: string): Promise<string> {
    const { status, body } = await api.call('POST', `${path(name)}/trigger`);
    const { synced, sync_error: error, state, by_hand } = body;
    expect({ status, synced, error, state, by_hand }).toEqual({
      ...{ status: 202, synced: true, error: null },
      ...{ state: 'requested', by_hand: true },
    });
    // The next one is of another second.
    await delay(1000);
    return body.id;
  }

  const run = async (name: string, id: string): Promise<Answer['body']> =>
    (await api.call('GET', `${path(name)}/runs/${id}`)).body;

  const runThat = (name: string, id: string, ...states: string[]) =>
    eventually(
      `run of ${name} is ${states}`,
      async () => {
        const found = await run(name, id);
        return states.includes(found.state) && found;
      },
      LOOKS_MS,
    );

  const sessionOf = (name: string, id: string): Promise<string> =>
    eventually('it has a session', async () => (await run(name, id)).result?.sessions?.[0], LOOKS_MS);

  async function complete(sessionName: string, succeeded: 'true' | 'false'): Promise<void> {
    await api.database.db
      .updateTable('sessions')
      .set({
        status: 'complete',
        succeeded,
        message: 'a host failed',
        reason: succeeded === 'true' ? null : 'run_lost',
      })
      .where('name', '=', sessionName)
      .execute();
  }

  test('every policy is said, and nothing is written twice', async () => {
    const name = await make({
      cron: '*/15 8-18 * * mon-fri',
      time_zone: 'Europe/Berlin',
      jitter: 30,
      overlap: 'buffer_one',
    });
    await reconcile();
    const { spec, policies, action, info, state } = await handleOf(name).describe();
    expect(info.lastUpdatedAt).toBeUndefined();
    expect(spec).toMatchObject({ timezone: 'Europe/Berlin', jitter: 30_000 });
    expect(policies).toEqual({ overlap: 'BUFFER_ONE', catchupWindow: 600_000, pauseOnFailure: false });
    expect(action).toMatchObject({ workflowType: 'scheduleRunWorkflow', workflowId: `schedule/${name}` });
    expect(state).toMatchObject({ paused: false, note: '' });
    await api.call('PATCH', path(name), { jitter: 31 });
    expect((await handleOf(name).describe()).spec.jitter).toBe(31_000);
  });

  test.each([
    '* * * * *',
    '5/20 */6 * * *',
    '0,15,30-40/5 0 1-7 jan,jul *',
    '0 0 1,15 * 5-7',
    '0 0 29 2 *',
    '0 0 */2 * mon',
    '0 0 31 2 sun',
  ])('%s is taken as it is meant', async (cron) => {
    const name = await make({ cron });
    await reconcile();
    const { info } = await handleOf(name).describe();
    expect(info.lastUpdatedAt).toBeUndefined();
    expect(info.nextActionTimes.length).toBeGreaterThan(0);
    await api.call('DELETE', path(name));
  });

  test('either of two restricted days is due', async () => {
    const name = await make({ cron: '0 0 13 * fri' });
    const { body } = await api.call('GET', `${path(name)}/next`);
    const days = body.times.map((time: string) => new Date(time));
    expect(days).toHaveLength(10);
    expect(days.every((day: Date) => day.getUTCDate() === 13 || day.getUTCDay() === 5)).toBe(true);
    expect(days.filter((day: Date) => day.getUTCDay() !== 5).length).toBeGreaterThan(0);
  });

  describe('next times of a zone with summer time', () => {
    /** Sundays of the month in which the clock changes, on the last one, in Berlin. */
    async function sundays(cron: string): Promise<{ last: string[]; others: string[] }> {
      const name = await make({ cron, time_zone: 'Europe/Berlin' });
      const { body } = await api.call('GET', `${path(name)}/next`);
      expect(body.times.length).toBeGreaterThan(4);
      const times: string[] = body.times;
      const isLast = (time: string) => Number(time.slice(8, 10)) > 24;
      const clock = (list: string[]) => [...new Set(list.map((time) => time.slice(11, 16)))];
      return { last: clock(times.filter(isLast)), others: clock(times.filter((time) => !isLast(time))) };
    }

    test('follow the clock on the wall', async () => {
      expect(await sundays('0 12 * 3 sun')).toEqual({ last: ['10:00'], others: ['11:00'] });
      expect(await sundays('0 12 * 10 sun')).toEqual({ last: ['11:00'], others: ['10:00'] });
    });

    test('leave out a time that there is not, and take one of two that are the same', async () => {
      expect(await sundays('30 2 * 3 sun')).toEqual({ last: [], others: ['01:30'] });
      expect(await sundays('30 2 * 10 sun')).toEqual({ last: ['01:30'], others: ['00:30'] });
    });
  });

  test('a time of the clock runs the action once, under the name of that time', async () => {
    const name = await make({ cron: '30 4 * * *', action: session, overlap: 'allow_all' });
    const [start, end] = [new Date('2026-03-05T04:29:00Z'), new Date('2026-03-05T04:31:00Z')];
    await handleOf(name).backfill({ start, end, overlap: 'ALLOW_ALL' });
    const [first] = await eventually('there is a run', async () => {
      const { body } = await api.call('GET', `${path(name)}/runs`);
      return body.runs.length > 0 && body.runs;
    });
    expect(first).toMatchObject({ scheduled_at: '2026-03-05T04:30:00Z', by_hand: false, requested_by: null });
    const made = await sessionOf(name, first.id);
    expect(made).toMatch(new RegExp(`^${name}-20260305043000-[0-9a-f]{4}$`));
    const { body } = await api.call('GET', `/api/v1/sessions/${made}`);
    expect(body).toMatchObject({ actor: `schedule/${name}`, configuration: { name: 'web' } });
    await complete(made, 'true');
    expect(await runThat(name, first.id, 'succeeded', 'failed')).toMatchObject({ state: 'succeeded', error: null });
    expect((await api.call('GET', `${path(name)}/runs`)).body.runs).toHaveLength(1);
  });

  test('a failed session is a failed run that says why', async () => {
    const name = await make({ action: session });
    const id = await trigger(name);
    await complete(await sessionOf(name, id), 'false');
    const { state, error } = await runThat(name, id, 'failed', 'succeeded');
    expect([state, error.code]).toEqual(['failed', 'run_lost']);
    expect(error.detail).toMatch(/^session s\d+-\d{14}-[0-9a-f]{4}: a host failed$/);
  });

  test('an action that cannot be done is a failed run that says why', async () => {
    const name = await make({ action: { session: { configuration_name: 'absent' } } });
    const id = await trigger(name);
    const { state, error, result } = await runThat(name, id, 'failed', 'succeeded');
    expect([state, error.code, result]).toEqual(['failed', 'configuration_invalid', null]);
    expect(error.detail).toContain('absent');
  });

  test('one that is paused fires on demand only, and says who paused it in Temporal too', async () => {
    const name = await make({ action: { refresh: { configurations: ['web'] } } });
    await api.call('POST', `${path(name)}/pause`, { note: 'maintenance' });
    expect((await handleOf(name).describe()).state).toMatchObject({
      paused: true,
      note: 'paused by nobody known: maintenance',
    });
    const id = await trigger(name);
    expect(await runThat(name, id, 'succeeded', 'failed')).toMatchObject({
      state: 'succeeded',
      result: { configurations: { unchanged: 1, changed: [], failed: [] } },
    });
    await api.call('POST', `${path(name)}/resume`, {});
    expect((await handleOf(name).describe()).state).toMatchObject({ paused: false, note: '' });
  });

  test('skip: a run that is asked for waits for the one that goes on, a time of the clock passes', async () => {
    const name = await make({ action: session, cron: '30 4 * * *' });
    const first = await trigger(name);
    const made = await sessionOf(name, first);
    const second = await trigger(name);
    const [start, end] = [new Date('2026-03-05T04:29:00Z'), new Date('2026-03-05T04:31:00Z')];
    await handleOf(name).backfill({ start, end });
    await eventually('it is left out', async () => (await handleOf(name).describe()).info.numActionsSkippedOverlap > 0);
    expect((await run(name, second)).state).toBe('requested');
    const { body } = await api.call('GET', `${path(name)}/next`);
    expect(body).toMatchObject({ taken: 1, skipped_overlap: 1, missed: 0, paused: false });
    await complete(made, 'true');
    await complete(await sessionOf(name, second), 'true');
    expect((await runThat(name, second, 'succeeded', 'failed')).state).toBe('succeeded');
  });

  test('allow_all: runs go on beside each other', async () => {
    const name = await make({ action: session, overlap: 'allow_all' });
    const ids = [await trigger(name), await trigger(name)];
    const sessions = await Promise.all(ids.map((id) => sessionOf(name, id)));
    expect(new Set(sessions).size).toBe(2);
    for (const made of sessions) await complete(made, 'true');
    for (const id of ids) await runThat(name, id, 'succeeded');
  });

  test('cancel_other: the run that goes on is cancelled with its session', async () => {
    const name = await make({ action: session, overlap: 'cancel_other' });
    const first = await trigger(name);
    const made = await sessionOf(name, first);
    const second = await trigger(name);
    expect((await runThat(name, first, 'cancelled', 'succeeded', 'failed')).state).toBe('cancelled');
    const { body } = await api.call('GET', `/api/v1/sessions/${made}`);
    expect(body.status.session.message).toContain(`the run of schedule ${name} was cancelled`);
    await complete(await sessionOf(name, second), 'true');
    await runThat(name, second, 'succeeded');
  });

  test('one that is deleted in the middle of a run leaves the session alone and the workflow ends', async () => {
    const name = await make({ action: session });
    const id = await trigger(name);
    const made = await sessionOf(name, id);
    const workflows = server.environment.client.workflow;
    const workflowId = await eventually('it is described', async () => {
      const [running] = (await handleOf(name).describe()).info.runningActions;
      return running?.workflow.workflowId;
    });
    expect((await api.call('DELETE', path(name))).status).toBe(204);
    await expect(handleOf(name).describe()).rejects.toThrow('not found');
    await workflows.getHandle(workflowId).result();
    expect((await api.call('GET', `/api/v1/sessions/${made}`)).body.status.session.status).toBe('pending');
    expect((await api.call('GET', `${path(name)}/runs`)).status).toBe(404);
  });

  test('what was lost or changed in Temporal is put right, what has no record goes', async () => {
    const [lost, changed, orphan] = [await make(), await make({ cron: '0 5 * * *' }), await make()];
    await handleOf(lost).delete();
    await handleOf(changed).update((before) => ({ ...before, spec: { intervals: [{ every: '1h' }] } }));
    await handleOf(changed).pause('by hand');
    await api.database.db.deleteFrom('schedules').where('name', '=', orphan).execute();
    await eventually('the list has caught up', async () => (await api.deps.schedules.list()).has(orphan));
    await reconcile();
    expect((await handleOf(lost).describe()).spec.calendars).toHaveLength(1);
    const { spec, state } = await handleOf(changed).describe();
    expect(spec.intervals).toEqual([]);
    expect(spec.calendars?.[0]?.hour).toEqual([{ start: 5, end: 5, step: 1 }]);
    expect(state.paused).toBe(false);
    await expect(handleOf(orphan).describe()).rejects.toThrow('not found');
  });

  test('a zone that Temporal does not know is said, and nothing is lost', async () => {
    // Postgres takes what a later version may have let pass.
    const name = await make();
    const { db } = api.database;
    const { record } = await db
      .selectFrom('schedules')
      .select('record')
      .where('name', '=', name)
      .executeTakeFirstOrThrow();
    const wrong = JSON.stringify({ ...record, time_zone: 'Mars/Phobos' });
    await db.updateTable('schedules').set({ record: wrong, revision: 2 }).where('name', '=', name).execute();
    await reconcile();
    const { body } = await api.call('GET', path(name));
    expect(body).toMatchObject({ synced: false, sync_error: expect.stringContaining('Mars/Phobos') });
    await api.call('DELETE', path(name));
  });
});
