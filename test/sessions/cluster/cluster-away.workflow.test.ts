/** A session for a cluster that no worker has. */
import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { sessionWorkflowId } from '../../../domain/sessions/workflow-id.ts';
import { getProgress, type WorkflowProgress } from '../../../workflows/sessions/messages.ts';
import { eventually } from '../../support/eventually.ts';
import { admitted, fakeSession } from '../../support/fakes/fake-session.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { closeOf, replayHistories, startTestWorker } from '../../support/stack/session-bench.ts';
import { temporalMissing } from '../../support/temporal/temporal-binary.ts';
import { openDevServer, workflowBundle } from '../../support/temporal/workflow-environment.ts';

describeNeeding(temporalMissing(), 'a session as a Job that no worker takes up', () => {
  test('says what it waits for, and ends with what to do', async () => {
    const { environment, close } = await openDevServer();
    const taskQueue = `cluster-away-${randomUUID()}`;
    const fake = fakeSession(taskQueue, { admitSession: async () => admitted({ runner: 'kubernetes' }) });
    const stop = await startTestWorker(environment, {
      taskQueue,
      workflowBundle: await workflowBundle(),
      activities: fake.activities,
    });
    const sessionId = randomUUID();
    const workflowId = sessionWorkflowId({ id: sessionId, name: 'test' });
    const handle = await environment.client.workflow.start('sessionWorkflow', {
      workflowId,
      taskQueue,
      args: [{ sessionId }],
    });
    const waiting = await eventually('it waits', async () => {
      const progress = await handle.query<WorkflowProgress, []>(getProgress);
      return progress.phase === 'inventory' && progress;
    });
    expect(waiting.message).toBe('waiting until a worker with a cluster has prepared the Job');
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
    await stop();
    await close();
  });
});
