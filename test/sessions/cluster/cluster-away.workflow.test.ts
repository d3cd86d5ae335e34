/** A session for a cluster that no worker has. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sessionWorkflowId } from '../../../domain/sessions/workflow-id.ts';
import { getProgress, type WorkflowProgress } from '../../../workflows/sessions/messages.ts';
import { eventually } from '../../support/eventually.ts';
import { admitted, fakeSession } from '../../support/fakes/fake-session.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { closeOf, replayHistories, startTestWorker } from '../../support/stack/session-bench.ts';
import { temporalMissing } from '../../support/temporal/temporal-binary.ts';
import { openDevServer, type TestServer, workflowBundle } from '../../support/temporal/workflow-environment.ts';

describeNeeding(temporalMissing(), 'a session as a Job that no worker takes up', () => {
  let server: TestServer;
  const stops: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    server = await openDevServer();
  });

  afterAll(async () => {
    for (const stop of stops) await stop();
    await server?.close();
  });

  async function start(taskQueue: string) {
    const { environment } = server;
    const fake = fakeSession(taskQueue, { admitSession: async () => admitted({ runner: 'kubernetes' }) });
    stops.push(
      await startTestWorker(environment, {
        taskQueue,
        workflowBundle: await workflowBundle(),
        activities: fake.activities,
      }),
    );
    const sessionId = randomUUID();
    const workflowId = sessionWorkflowId({ id: sessionId, name: 'test' });
    const handle = await environment.client.workflow.start('sessionWorkflow', {
      workflowId,
      taskQueue,
      args: [{ sessionId }],
    });
    return { fake, handle, workflowId };
  }

  test('says what it waits for', async () => {
    const { handle } = await start(`no-cluster-${randomUUID()}`);
    const waiting = await eventually('it waits', async () => {
      const progress = await handle.query<WorkflowProgress, []>(getProgress);
      return progress.phase === 'inventory' && progress;
    });
    expect(waiting.message).toBe('waiting until a worker with a cluster has prepared the Job');
    await handle.terminate();
  });

  test('ends with what to do', async () => {
    const { fake, handle, workflowId } = await start(`cluster-away-${randomUUID()}`);
    await closeOf(handle);
    expect(fake.names()).toEqual(['admitSession', 'recordEnd']);
    expect(fake.end()).toEqual({
      succeeded: 'false',
      message: expect.stringMatching(
        /^no worker with a cluster took it up: start one that has MUSTER_RUNNER_AEE_IMAGE/,
      ),
      reason: 'runner_unavailable',
    });
    expect(await replayHistories([{ workflowId, history: await handle.fetchHistory() }])).toBe(1);
  });
});
