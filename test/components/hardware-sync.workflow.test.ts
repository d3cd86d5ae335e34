/** The hardware sync's workflow on the time-skipping server: it goes on whatever happens, and ends where there is none. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import type { HardwareSyncAnswer } from '../../activities/components/contract.ts';
import { createHardwareSyncActivities } from '../../activities/components/hardware-sync-activities.ts';
import { HARDWARE_SYNC_WORKFLOW_ID } from '../../domain/components/hardware-sync.ts';
import { reconcileSchedules } from '../../worker/schedules.ts';
import { eventually } from '../support/eventually.ts';
import { node, startHardwareManager } from '../support/fakes/hardware-service.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { describeNeeding } from '../support/requirement.ts';
import { startTestWorker } from '../support/stack/session-bench.ts';
import { laneSchedules } from '../support/temporal/lane-schedules.ts';
import { temporalMissing } from '../support/temporal/temporal-binary.ts';
import { openDevServer, type TestServer, workflowBundle } from '../support/temporal/workflow-environment.ts';

const QUEUE = 'test-hardware-sync';

describeNeeding(temporalMissing(), 'the hardware sync', () => {
  let server: TestServer;
  let database: TestDatabase;
  beforeAll(async () => {
    [server, database] = await Promise.all([openDevServer(), createTestDatabase()]);
  });
  afterAll(async () => {
    await server?.close();
    await database?.close();
  });

  const worker = async (activities: object) =>
    startTestWorker(server.environment, { taskQueue: QUEUE, workflowBundle: await workflowBundle(), activities });

  test('goes on after passes that fail, continues as new, and ends where there is none', async () => {
    const soon: HardwareSyncAnswer = { waitMs: 1, summary: 'the last pass succeeded' };
    let passes = 0;
    const stop = await worker({
      syncHardware: async () => {
        passes += 1;
        if (passes === 2) throw ApplicationFailure.nonRetryable('no database', 'internal');
        return passes < 8 ? soon : null;
      },
    });
    const { client } = server.environment;
    const start = { workflowId: 'hardware-sync-test', taskQueue: QUEUE, args: [{ maxEvents: 20 }] };
    const handle = await client.workflow.start('hardwareSyncWorkflow', start);
    expect(await handle.result()).toBeUndefined();
    expect(passes).toBe(8);
    const last = await client.workflow.getHandle('hardware-sync-test').describe();
    expect(last.runId).not.toBe(handle.firstExecutionRunId);
    await stop();
  });

  test('is started once where it does not run, and makes components', async () => {
    const { client } = server.environment;
    const manager = await startHardwareManager();
    manager.entries = [node('x1')];
    const listHardware = async () => manager.entries as { ID: string; Type: string }[];
    const log = { info: () => undefined, warn: () => undefined };
    const deps = { db: database.db, clock: () => new Date(), client, taskQueue: QUEUE, log };
    const activities = createHardwareSyncActivities({ ...deps, listHardware });
    const stop = await worker(activities);
    await activities.ensureHardwareSync();
    await activities.ensureHardwareSync();
    const made = () => database.db.selectFrom('components').select('id').execute();
    await eventually('the node is a component', async () => (await made()).length === 1);
    const handle = client.workflow.getHandle(HARDWARE_SYNC_WORKFLOW_ID);
    expect((await handle.describe()).status.name).toBe('RUNNING');
    await handle.terminate('somebody');
    await client.workflow.execute('ensureHardwareSyncWorkflow', { workflowId: 'ensure', taskQueue: QUEUE, args: [] });
    expect((await handle.describe()).status.name).toBe('RUNNING');
    await handle.terminate('the end');
    await stop();
    await manager.close();
  });

  test('has a schedule where a hardware manager is set, and none else', async () => {
    const { client } = server.environment;
    const schedule = client.schedule.getHandle('muster-hardware-sync');
    await reconcileSchedules(client, laneSchedules({ hardwareSync: true }));
    const { spec, policies } = await schedule.describe();
    expect(spec.intervals).toMatchObject([{ every: 600_000 }]);
    expect(policies).toMatchObject({ overlap: 'SKIP', catchupWindow: 60_000 });
    for (let time = 0; time < 2; time += 1) {
      await reconcileSchedules(client, laneSchedules());
      await expect(schedule.describe()).rejects.toThrow(/not found/i);
    }
  });
});
