/** A job whose machine goes away while it unpacks: ten minutes later its image is half there, and begun again on the next one. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ImageJobPlan, ImageJobRecords, ImageWork } from '../../activities/images/contract.ts';
import { describeNeeding } from '../support/requirement.ts';
import { replayHistories, startTestWorker } from '../support/session-bench.ts';
import { testServerMissing } from '../support/test-server.ts';
import { openTimeSkipping, type TestServer, workflowBundle } from '../support/workflow-environment.ts';

describeNeeding(testServerMissing(), 'an image job whose machine goes away', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await openTimeSkipping();
  });
  afterAll(() => server?.close());

  test('is unpacked again before it is opened', async () => {
    const { environment } = server;
    const [here, away] = [`here-${randomUUID()}`, `away-${randomUUID()}`];
    const job: Omit<ImageJobPlan, 'stepSeconds'> = { status: 'creating', over: false, queue: null };
    let turns = 0;
    const activities: ImageJobRecords & ImageWork = {
      readImageJob: async () => ({ ...job, stepSeconds: 60 }),
      takeImageTurn: async ({ status }) => {
        turns += 1;
        const queue = turns === 1 ? away : here;
        Object.assign(job, { status, queue });
        return { state: 'go', queue };
      },
      noteOnImageJob: async () => undefined,
      failImageJob: async () => void Object.assign(job, { status: 'error', over: true }),
      closeImageJob: async () => undefined,
      unpackRoot: async () => undefined,
      openRoot: async () => void Object.assign(job, { status: 'waiting_on_user' }),
      watchRoot: async () => ({ state: 'complete' }),
      packRoot: async () => void Object.assign(job, { status: 'success', over: true }),
      cleanRoot: async () => undefined,
    };
    const stop = await startTestWorker(environment, {
      taskQueue: here,
      workflowBundle: await workflowBundle(),
      activities: { ...activities },
    });
    const start = { workflowId: `image-job/${randomUUID()}`, taskQueue: here, args: [{ jobId: 'j1' }] };
    const handle = await environment.client.workflow.start('imageJobWorkflow', start);
    await handle.result();
    await stop();
    const history = await handle.fetchHistory();
    const steps = (history.events ?? []).flatMap(({ activityTaskScheduledEventAttributes: step }) =>
      step ? [`${step.activityType?.name} ${step.taskQueue?.name?.slice(0, 4)}`] : [],
    );
    expect(steps).toEqual([
      'unpackRoot away',
      'unpackRoot here',
      'openRoot here',
      'watchRoot here',
      'packRoot here',
      'cleanRoot here',
    ]);
    expect(await replayHistories([{ workflowId: handle.workflowId, history }])).toBe(1);
  });
});
