/** The workflow of a run, with fake activities and time that skips. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import type { ScheduleRunActivities } from '../../activities/schedules/contract.ts';
import type { scheduleRunWorkflow } from '../../workflows/schedules/schedule-run.workflow.ts';
import { eventually } from '../support/eventually.ts';
import { describeNeeding } from '../support/requirement.ts';
import { startTestWorker } from '../support/stack/session-bench.ts';
import { testServerMissing } from '../support/temporal/test-server.ts';
import { openTimeSkipping, type TestServer, workflowBundle } from '../support/temporal/workflow-environment.ts';

const QUEUE = `test-${randomUUID()}`;

/** Something to wait for, and how it happens. */
function signal(): [Promise<void>, () => void] {
  const { promise, resolve } = Promise.withResolvers<void>();
  return [promise, resolve];
}

describeNeeding(testServerMissing(), 'the run of a schedule', () => {
  let server: TestServer;
  let stop: () => Promise<void>;
  let said: string[];
  let acts: ScheduleRunActivities;

  beforeAll(async () => {
    server = await openTimeSkipping();
    const named = <K extends keyof ScheduleRunActivities>(name: K) =>
      (async (input: never) => (acts[name] as (given: never) => unknown)(input)) as ScheduleRunActivities[K];
    stop = await startTestWorker(server.environment, {
      taskQueue: QUEUE,
      workflowBundle: await workflowBundle(),
      activities: {
        beginScheduleRun: named('beginScheduleRun'),
        performScheduleRun: named('performScheduleRun'),
        followScheduleRun: named('followScheduleRun'),
        failScheduleRun: named('failScheduleRun'),
        cancelScheduleRun: named('cancelScheduleRun'),
      },
    });
  });
  afterAll(async () => {
    await stop?.();
    await server?.close();
  });

  beforeEach(() => {
    said = [];
    acts = {
      beginScheduleRun: async () => ({ runId: 'r1' }),
      performScheduleRun: async () => {
        said.push('performed');
        return 'over';
      },
      followScheduleRun: async () => {
        said.push('looked');
        return true;
      },
      failScheduleRun: async ({ code, detail }) => void said.push(`failed ${code}: ${detail}`),
      cancelScheduleRun: async () => void said.push('cancelled'),
    };
  });

  const start = (more: { maxEvents?: number } = {}) =>
    server.environment.client.workflow.start<typeof scheduleRunWorkflow>('scheduleRunWorkflow', {
      workflowId: `schedule/test-${randomUUID()}`,
      taskQueue: QUEUE,
      args: [{ scheduleId: 's1', ...more }],
    });

  test('without a schedule does the action for the time of its start', async () => {
    const begun: { scheduleId: string; scheduledAt: string; workflowId: string }[] = [];
    acts.beginScheduleRun = async (input) => {
      begun.push(input);
      return { runId: 'r1' };
    };
    const handle = await start();
    await handle.result();
    const { startTime } = await handle.describe();
    expect(begun).toEqual([{ scheduleId: 's1', workflowId: handle.workflowId, scheduledAt: startTime.toISOString() }]);
    expect(said).toEqual(['performed']);
  });

  test('does nothing when there is nothing to do', async () => {
    acts.beginScheduleRun = async () => null;
    await (await start()).result();
    expect(said).toEqual([]);
  });

  test('looks at its sessions until they are complete, also when it continues as new meanwhile', async () => {
    let looks = 0;
    acts.performScheduleRun = async () => 'following';
    acts.followScheduleRun = async () => ++looks === 40;
    const handle = await start({ maxEvents: 60 });
    await handle.result();
    expect(looks).toBe(40);
    const chain = await server.environment.client.workflow.getHandle(handle.workflowId).describe();
    expect(chain.runId).not.toBe(handle.firstExecutionRunId);
  });

  test('a failure that is for good is recorded in its own words', async () => {
    let tries = 0;
    acts.performScheduleRun = async () => {
      tries += 1;
      throw ApplicationFailure.nonRetryable('there is no configuration x', 'configuration_invalid');
    };
    await (await start()).result();
    expect([tries, said]).toEqual([1, ['failed configuration_invalid: there is no configuration x']]);
  });

  test('a failure that may pass is tried again, and recorded when it does not', async () => {
    let tries = 0;
    acts.performScheduleRun = async () => {
      tries += 1;
      if (tries === 3) return 'over';
      throw ApplicationFailure.retryable('the database is away', 'storage_unavailable');
    };
    await (await start()).result();
    expect([tries, said]).toEqual([3, []]);
    tries = 100;
    await (await start()).result();
    expect([tries, said]).toEqual([115, ['failed storage_unavailable: the database is away']]);
  });

  test('records that cannot be written are written later', async () => {
    let tries = 0;
    acts.beginScheduleRun = async () => {
      tries += 1;
      if (tries < 20) throw ApplicationFailure.retryable('the database is away', 'storage_unavailable');
      return { runId: 'r1' };
    };
    await (await start()).result();
    expect([tries, said]).toEqual([20, ['performed']]);
  });

  test('a cancellation while it looks at its sessions is recorded, and is the end of the workflow', async () => {
    const [looked, looking] = signal();
    const [recorded, record] = signal();
    acts.performScheduleRun = async () => 'following';
    // It looks for as long as that takes: the time-skipping server loses a task that cancels an activity which just ended.
    acts.followScheduleRun = async () => {
      looking();
      await recorded;
      return false;
    };
    acts.cancelScheduleRun = async () => {
      said.push('cancelled');
      record();
    };
    const handle = await start();
    await looked;
    await handle.cancel();
    await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    expect(said).toEqual(['cancelled']);
  });

  test('a cancellation between two looks is recorded, and is the end of the workflow', async () => {
    acts.performScheduleRun = async () => 'following';
    acts.followScheduleRun = async () => {
      said.push('looked');
      return false;
    };
    const handle = await start();
    const pauses = async () =>
      (await handle.fetchHistory()).events?.filter((event) => event.timerStartedEventAttributes).length ?? 0;
    // Until a pause is so long that it does not end before the cancellation.
    await server.environment.sleep('45s');
    await eventually('a long pause begins', async () => (await pauses()) >= 6);
    await handle.cancel();
    await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    expect(said).toEqual([...Array(await pauses()).fill('looked'), 'cancelled']);
  });

  test('a cancellation while it begins is recorded, and nothing is done', async () => {
    const [asked, begun] = signal();
    const [told, goOn] = signal();
    acts.beginScheduleRun = async () => {
      begun();
      await told;
      return { runId: 'r1' };
    };
    const handle = await start();
    await asked;
    await handle.cancel();
    goOn();
    await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    expect(said).toEqual(['cancelled']);
  });
});
