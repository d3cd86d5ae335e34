/** A machine that does not answer: the sweep says so in the records of the sessions that wait for it. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { hostQueueOf } from '../../../domain/engine/task-queues.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { startTestWorker } from '../../support/stack/session-bench.ts';
import { testServerMissing } from '../../support/temporal/test-server.ts';
import { openTimeSkipping, type TestServer, workflowBundle } from '../../support/temporal/workflow-environment.ts';

describeNeeding(testServerMissing(), 'the sweep of machines', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await openTimeSkipping();
  });
  afterAll(() => server?.close());

  test('names one that is away, and none that cleans up or fails to', async () => {
    const { environment } = server;
    const [here, broken, away] = ['here', 'broken', 'away'].map((name) => `${name}-${randomUUID()}`) as [
      string,
      string,
      string,
    ];
    const taskQueue = `test-${randomUUID()}`;
    const named: string[] = [];
    const stops = [
      await startTestWorker(environment, {
        taskQueue,
        workflowBundle: await workflowBundle(),
        activities: {
          sweepSessions: async () => ({ hosts: [here, broken, away] }),
          noteMachineAway: async ({ host }: { host: string }) => void named.push(host),
        },
      }),
      await startTestWorker(environment, {
        taskQueue: hostQueueOf(here),
        activities: { cleanHost: async () => undefined },
      }),
      await startTestWorker(environment, {
        taskQueue: hostQueueOf(broken),
        activities: {
          cleanHost: async () => {
            throw ApplicationFailure.nonRetryable('read-only file system', 'internal');
          },
        },
      }),
    ];
    const start = { workflowId: `sweep-${randomUUID()}`, taskQueue, args: [] };
    const handle = await environment.client.workflow.start('sweepWorkflow', start);
    await handle.result();
    expect(named).toEqual([away]);
    await Promise.all(stops.map((stop) => stop()));
  });
});
