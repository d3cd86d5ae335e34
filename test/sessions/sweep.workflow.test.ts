import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { CleaningActivities, SweepActivities } from '../../activities/sessions/contract.ts';
import { hostQueueOf } from '../../domain/sessions/task-queues.ts';
import type { sweepWorkflow } from '../../workflows/sessions/sweep.workflow.ts';
import { describeNeeding } from '../support/requirement.ts';
import { replayHistories, startTestWorker } from '../support/session-bench.ts';
import { temporalMissing } from '../support/temporal-binary.ts';
import { openDevServer, type TestServer, workflowBundle } from '../support/workflow-environment.ts';

describeNeeding(temporalMissing(), 'sweep workflow', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await openDevServer();
    await workflowBundle();
  }, 120_000);
  afterAll(() => server?.close());

  /** Runs one sweep. `machines`: what cleaning does on those that are there; all of `hosts` are asked. */
  const sweep = async (
    hosts: string[],
    machines: Record<string, CleaningActivities['cleanHost']>,
    sweepSessions: SweepActivities['sweepSessions'] = async () => ({ hosts }),
  ) => {
    const taskQueue = `test-${randomUUID()}`;
    const stops = [
      await startTestWorker(server.environment, {
        taskQueue,
        workflowBundle: await workflowBundle(),
        activities: { sweepSessions },
      }),
      ...(await Promise.all(
        Object.entries(machines).map(([host, cleanHost]) =>
          startTestWorker(server.environment, { taskQueue: hostQueueOf(host), activities: { cleanHost } }),
        ),
      )),
    ];
    const handle = await server.environment.client.workflow.start<typeof sweepWorkflow>('sweepWorkflow', {
      workflowId: `sweep-${randomUUID()}`,
      taskQueue,
    });
    try {
      await handle.result();
    } finally {
      await Promise.all(stops.map((stop) => stop()));
      await replayHistories([{ workflowId: handle.workflowId, history: await handle.fetchHistory() }]);
    }
    return (await handle.describe()).historyLength;
  };

  const names = (count: number) => Array.from({ length: count }, () => randomUUID());

  test('every machine cleans up once', async () => {
    const [a = '', b = ''] = names(2);
    const cleaned: string[] = [];
    await sweep([a, b], { [a]: async () => void cleaned.push(a), [b]: async () => void cleaned.push(b) });
    expect(cleaned.sort()).toEqual([a, b].sort());
  });

  test('a machine that is away, or cannot clean up, keeps nobody else from it', async () => {
    const [here = '', broken = ''] = names(2);
    const away = `away-${randomUUID()}`;
    let cleaned = 0;
    await sweep([away, broken, here], {
      [here]: async () => {
        cleaned += 1;
      },
      [broken]: async () => {
        throw ApplicationFailure.nonRetryable('read-only file system', 'internal');
      },
    });
    expect(cleaned).toBe(1);
  });

  test('a comparison that fails for a moment is tried again; without an answer nothing is cleaned', async () => {
    const [host = ''] = names(1);
    let tries = 0;
    let cleaned = 0;
    const machines = {
      [host]: async () => {
        cleaned += 1;
      },
    };
    await sweep([], machines, async () => {
      tries += 1;
      if (tries === 1) throw new Error('connection refused');
      return { hosts: [host] };
    });
    expect([tries, cleaned]).toEqual([2, 1]);

    const failing = sweep([], machines, async () => {
      throw ApplicationFailure.nonRetryable('no such table', 'internal');
    });
    await expect(failing).rejects.toBeInstanceOf(WorkflowFailedError);
    expect(cleaned).toBe(1);
  });

  test('history: at most 12 events and 6 for each machine', async () => {
    const hosts = names(4);
    const machines = Object.fromEntries(hosts.map((host) => [host, async () => undefined]));
    expect(await sweep(hosts, machines)).toBeLessThanOrEqual(12 + 6 * hosts.length);
  });
});
