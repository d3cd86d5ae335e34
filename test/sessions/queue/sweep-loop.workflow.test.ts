/** The sweep that goes on: each minute, whatever fails in it, until it is ended; and what keeps it running. Its activities are fakes. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { wantedSweep } from '../../../control/sessions/wanted-sweep.ts';
import { tellOrThrow } from '../../../control/temporal/tell.ts';
import { hostQueueOf, MAIN_QUEUE } from '../../../domain/engine/task-queues.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { replayHistories, startTestWorker } from '../../support/stack/session-bench.ts';
import { testServerMissing } from '../../support/temporal/test-server.ts';
import { openTimeSkipping, type TestServer, workflowBundle } from '../../support/temporal/workflow-environment.ts';

const MINUTE = 60_000;

describeNeeding(testServerMissing(), 'the sweep', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await openTimeSkipping();
  });
  afterAll(() => server?.close());

  /** A sweep with these activities; `at` are the times of its passes, in ms since the first. */
  async function sweeping(
    input: object,
    activities: {
      pass?: (count: number) => Promise<{ hosts: string[] }>;
      note?: (host: string) => Promise<void>;
      clean?: Record<string, () => Promise<void>>;
    },
  ) {
    const { environment } = server;
    const taskQueue = `test-${randomUUID()}`;
    const at: number[] = [];
    const { pass = async () => ({ hosts: [] }), note = async () => undefined, clean = {} } = activities;
    const stops = [
      await startTestWorker(environment, {
        taskQueue,
        workflowBundle: await workflowBundle(),
        activities: {
          sweepSessions: async () => {
            at.push(await environment.currentTimeMs());
            return pass(at.length);
          },
          noteMachineAway: ({ host }: { host: string }) => note(host),
        },
      }),
    ];
    for (const [host, cleanHost] of Object.entries(clean)) {
      stops.push(await startTestWorker(environment, { taskQueue: hostQueueOf(host), activities: { cleanHost } }));
    }
    const start = { workflowId: `sweep-${randomUUID()}`, taskQueue, args: [input] };
    const handle = await environment.client.workflow.start('sweepWorkflow', start);
    return {
      handle: environment.client.workflow.getHandle(start.workflowId),
      firstRun: handle.firstExecutionRunId,
      at: () => at.map((time) => time - (at[0] ?? 0)),
      minutes: (count: number) => environment.sleep(count * MINUTE),
      stop: async () => {
        await handle.terminate('the test is over').catch(() => undefined);
        await Promise.all(stops.map((stop) => stop()));
      },
    };
  }

  const statusOf = async (handle: WorkflowHandle) => (await handle.describe()).status.name;

  test('makes one pass where a Schedule asks for one', async () => {
    const sweep = await sweeping({}, {});
    await sweep.handle.result();
    expect(sweep.at()).toEqual([0]);
    await sweep.stop();
  });

  test('makes a pass each minute, also after passes that failed', async () => {
    const sweep = await sweeping(
      { everyMs: MINUTE },
      {
        pass: async (count) => {
          if (count === 2) throw ApplicationFailure.nonRetryable('the database is away', 'storage_unavailable');
          return { hosts: [] };
        },
      },
    );
    await sweep.minutes(4.5);
    const pauses = sweep.at().map((time) => Math.round(time / MINUTE));
    expect(pauses).toEqual([0, 1, 2, 3, 4]);
    const shown = (await sweep.handle.query('__temporal_workflow_metadata')) as { currentDetails?: string };
    expect(shown.currentDetails).toBe('pass 5 is made');
    expect(await statusOf(sweep.handle)).toBe('RUNNING');
    await sweep.stop();
  });

  test('does not wait for a machine that cleans up for long, and asks it again when that is over', async () => {
    const [quick, slow, away] = ['quick', 'slow', 'away'].map((name) => `${name}-${randomUUID()}`) as [
      ...[string, string, string],
    ];
    const cleaned = { quick: 0, slow: 0 };
    const noted: string[] = [];
    const sweep = await sweeping(
      { everyMs: MINUTE },
      {
        pass: async () => ({ hosts: [quick, slow, away] }),
        note: async (host) => void noted.push(host),
        clean: {
          [quick]: async () => {
            cleaned.quick += 1;
          },
          [slow]: async () => {
            cleaned.slow += 1;
            // Its retry comes soon, so it goes on for some passes.
            if (cleaned.slow % 2 === 1) throw ApplicationFailure.create({ message: 'busy', nextRetryDelay: '150s' });
          },
        },
      },
    );
    await sweep.minutes(5.5);
    expect(sweep.at()).toHaveLength(6);
    expect(cleaned.quick).toBe(6);
    // Passes 1, 2, 3 meet the first clean-up; the one after it begins a second.
    expect(cleaned.slow).toBeGreaterThanOrEqual(3);
    expect(cleaned.slow).toBeLessThanOrEqual(4);
    expect(new Set(noted)).toEqual(new Set([away]));
    expect(noted.length).toBeGreaterThanOrEqual(5);
    await sweep.stop();
  });

  test('goes on when it cannot note that a machine is away', async () => {
    const sweep = await sweeping(
      { everyMs: MINUTE },
      {
        pass: async () => ({ hosts: [`away-${randomUUID()}`] }),
        note: () => Promise.reject(ApplicationFailure.nonRetryable('no database', 'storage_unavailable')),
      },
    );
    await sweep.minutes(3.5);
    expect(sweep.at()).toHaveLength(4);
    expect(await statusOf(sweep.handle)).toBe('RUNNING');
    await sweep.stop();
  });

  test('continues as new in the same rhythm, and replays', async () => {
    const sweep = await sweeping({ everyMs: MINUTE, passes: 3 }, {});
    await sweep.minutes(7.5);
    expect(sweep.at().map((time) => Math.round(time / MINUTE))).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    const { runId } = await sweep.handle.describe();
    expect(runId).not.toBe(sweep.firstRun);
    const { workflowId } = sweep.handle;
    const runs = [sweep.firstRun, runId].map((run) => server.environment.client.workflow.getHandle(workflowId, run));
    const histories = await Promise.all(runs.map(async (run) => ({ workflowId, history: await run.fetchHistory() })));
    expect(await replayHistories(histories)).toBe(2);
    await sweep.stop();
  });

  test('waits with that for machines that clean up, though not for ever', async () => {
    const host = `busy-${randomUUID()}`;
    const sweep = await sweeping(
      { everyMs: MINUTE, passes: 2 },
      {
        pass: async () => ({ hosts: [host] }),
        clean: {
          [host]: () => Promise.reject(ApplicationFailure.create({ message: 'busy', nextRetryDelay: '9m' })),
        },
      },
    );
    await sweep.minutes(2.5);
    expect((await sweep.handle.describe()).runId).toBe(sweep.firstRun);
    await sweep.minutes(2);
    expect((await sweep.handle.describe()).runId).not.toBe(sweep.firstRun);
    await sweep.stop();
  });

  test('ends when it is cancelled', async () => {
    const sweep = await sweeping({ everyMs: MINUTE }, {});
    await sweep.minutes(1.5);
    await sweep.handle.cancel();
    await expect(sweep.handle.result()).rejects.toThrow();
    expect(await statusOf(sweep.handle)).toBe('CANCELLED');
    await sweep.stop();
  });

  describe('is kept running', () => {
    test('by every worker: once, and again after somebody has ended it', async () => {
      const { client } = server.environment;
      const start = () => tellOrThrow(client, wantedSweep());
      await Promise.all([start(), start(), start()]);
      const handle = client.workflow.getHandle(wantedSweep().workflowId);
      const first = await handle.describe();
      expect([first.status.name, first.taskQueue]).toEqual(['RUNNING', MAIN_QUEUE]);
      await start();
      expect((await handle.describe()).runId).toBe(first.runId);
      await handle.terminate('somebody');
      await start();
      expect(await statusOf(handle)).toBe('RUNNING');
      expect((await handle.describe()).runId).not.toBe(first.runId);
      await handle.terminate('the test is over');
    });
  });
});
