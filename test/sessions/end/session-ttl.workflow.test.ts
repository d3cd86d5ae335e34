/** Old sessions go by themselves: the schedule, its workflow and its activity, on a real Temporal server and a real database. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createSweepActivities } from '../../../activities/sessions/sweep-activities.ts';
import { MAIN_QUEUE } from '../../../domain/engine/task-queues.ts';
import { readOptions } from '../../../store/configurations/options.ts';
import { reconcileSchedules } from '../../../worker/schedules.ts';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { startTestWorker } from '../../support/stack/session-bench.ts';
import { openMachine, type SessionMachine } from '../../support/stack/session-machine.ts';
import { makeSession, sessionNow } from '../../support/temporal/engine-sessions.ts';
import { laneSchedules } from '../../support/temporal/lane-schedules.ts';
import { temporalMissing } from '../../support/temporal/temporal-binary.ts';
import { openDevServer, type TestServer, workflowBundle } from '../../support/temporal/workflow-environment.ts';

const DAY = 86_400_000;
const EVERY_MS = 120_000;
const second = () => Math.floor(Date.now() / 1_000);
/** A run has its second in its id, so another one of the same second would be refused. */
async function anotherSecond(): Promise<void> {
  const now = second();
  await eventually('it is another second', () => second() > now);
}

describeNeeding(temporalMissing(), 'the time-to-live of sessions', () => {
  let server: TestServer;
  let machine: SessionMachine;
  let stopWorker: () => Promise<void>;
  const logged: object[] = [];
  beforeAll(async () => {
    [server, machine] = await Promise.all([openDevServer(), openMachine()]);
    const { db } = machine.database;
    const { expireSessions } = createSweepActivities({
      ...machine.deps,
      owners: [],
      readOptions: () => readOptions(db),
      clock: () => new Date(),
      laneSweeps: [],
      mirrors: { pruneMirrors: async () => 0 },
      log: { info: (fields) => void logged.push(fields), warn: () => undefined },
    });
    stopWorker = await startTestWorker(server.environment, {
      taskQueue: MAIN_QUEUE,
      workflowBundle: await workflowBundle(),
      // The other schedule may come due meanwhile.
      activities: { expireSessions, sweepSessions: async () => ({ hosts: [] }) },
    });
  });
  afterAll(async () => {
    await stopWorker?.();
    await machine?.close();
    await server?.close();
  });

  async function ended(msAgo: number): Promise<string> {
    const { db } = machine.database;
    const { id } = await makeSession(db, { now: new Date(Date.now() - msAgo) });
    await db.updateTable('sessions').set({ status: 'complete', stage: 'ended' }).where('id', '=', id).execute();
    return id;
  }
  const isDeleted = async (id: string) => (await sessionNow(machine.database.db, id)).deleted_at !== null;

  test('is a schedule of less than five minutes that follows the option', async () => {
    const { client } = server.environment;
    const { db } = machine.database;
    // It begins a run with every second minute, and is paused well before the next one.
    await eventually('it comes not due now', () => Date.now() % EVERY_MS < EVERY_MS - 5_000);
    await reconcileSchedules(client, laneSchedules());
    const schedule = client.schedule.getHandle('muster-session-ttl');
    const { spec, policies } = await schedule.describe();
    // What it would start by itself in the second of a trigger would be in its way.
    await schedule.pause();
    const isIdle = async () => (await schedule.describe()).info.runningActions.length === 0;
    await eventually('nothing that it has started goes on', isIdle);
    await anotherSecond();
    expect(spec.intervals).toMatchObject([{ every: EVERY_MS }]);
    expect(policies).toMatchObject({ overlap: 'SKIP', catchupWindow: 60_000 });

    const [old, young] = [await ended(8 * DAY), await ended(2 * DAY)];
    const { numActionsTaken: before } = (await schedule.describe()).info;
    await schedule.trigger();
    await eventually('the old one is deleted', () => isDeleted(old));
    expect(await isDeleted(young)).toBe(false);
    await eventually('it is logged', () => logged.length > 0);
    expect(logged).toEqual([{ deleted: 1 }]);

    // While a run goes on, another one is skipped.
    await eventually('the first run is over', async () => {
      const { info } = await schedule.describe();
      return info.numActionsTaken > before && info.runningActions.length === 0;
    });
    await anotherSecond();
    // Another value counts at once.
    const record = JSON.stringify({ session_ttl: '1d' });
    await db.insertInto('options').values({ record, updated_at: new Date(), actor: null }).execute();
    await schedule.trigger();
    await eventually('the other one is deleted', () => isDeleted(young));
  });
});
