/** Brings the workflows of the image service to their ends, each in its own way, so that their histories can be recorded. */
import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import type { ImageJobRecords, ImageWork } from '../../../../activities/images/contract.ts';
import { endImageJob } from '../../../../workflows/images/messages.ts';
import { startTestWorker } from '../../stack/session-bench.ts';
import { workflowBundle } from '../workflow-environment.ts';
import type { Histories, Recorded } from './recorded.ts';

interface Way {
  instead?: Partial<ImageWork>;
  /** Answers the first questions for a turn with "wait". */
  waits?: number;
  /** Calls it off while its user works. */
  interrupted?: 'deleted' | 'cancelled';
}

const imageJob =
  (name: string, { instead = {}, waits = 0, interrupted }: Way = {}): Recorded =>
  async ({ environment }) => {
    const taskQueue = `test-${name}`;
    const job: { status: Awaited<ReturnType<ImageJobRecords['readImageJob']>>['status']; over: boolean } = {
      status: 'creating',
      over: false,
    };
    let turns = 0;
    let watched = false;
    const end = (status: 'success' | 'error') => Object.assign(job, { status, over: true });
    const activities: ImageJobRecords & ImageWork = {
      readImageJob: async () => ({ ...job, queue: job.status === 'creating' ? null : taskQueue, stepSeconds: 60 }),
      takeImageTurn: async ({ status }) => {
        if (job.over) return { state: 'over' };
        turns += 1;
        if (turns <= waits) return { state: 'wait', message: 'another image is unpacked', retrySeconds: 1 };
        job.status = status;
        return { state: 'go', queue: taskQueue };
      },
      noteOnImageJob: async () => undefined,
      failImageJob: async () => void end('error'),
      closeImageJob: async () => undefined,
      unpackRoot: async () => undefined,
      openRoot: async () => {
        job.status = 'waiting_on_user';
      },
      watchRoot: async () => {
        watched = true;
        while (interrupted && !job.over) await delay(20);
        return { state: 'complete' };
      },
      packRoot: async () => void end('success'),
      cleanRoot: async () => undefined,
      ...instead,
    };
    const stop = await startTestWorker(environment, {
      taskQueue,
      workflowBundle: await workflowBundle(),
      activities: { ...activities },
    });
    const start = { workflowId: `image-job/${name}`, taskQueue, args: [{ jobId: name }] };
    const handle = await environment.client.workflow.start('imageJobWorkflow', start);
    if (interrupted) {
      while (!watched) await delay(20);
      if (interrupted === 'cancelled') await handle.cancel();
      else {
        job.over = true;
        await handle.signal(endImageJob);
      }
    }
    await handle.result();
    await stop();
    return handle.workflowId;
  };

/** A sweep with a machine that cleans up and one that cannot. */
const sweepImages: Recorded = async ({ environment }) => {
  const taskQueue = 'test-sweep-images';
  const queues = ['a', 'b'].map((name) => `${taskQueue}-${name}`);
  const clean = [
    async () => undefined,
    async () => {
      throw ApplicationFailure.nonRetryable('read-only file system', 'internal');
    },
  ];
  const stops = [
    await startTestWorker(environment, {
      taskQueue,
      workflowBundle: await workflowBundle(),
      activities: { sweepImageJobs: async () => ({ queues }) },
    }),
  ];
  for (const [index, queue] of queues.entries()) {
    stops.push(await startTestWorker(environment, { taskQueue: queue, activities: { cleanImageHost: clean[index] } }));
  }
  const start = { workflowId: 'sweep-images', taskQueue, args: [] };
  const handle = await environment.client.workflow.start('sweepImagesWorkflow', start);
  await handle.result();
  await Promise.all(stops.map((stop) => stop()));
  return handle.workflowId;
};

let looks = 0;

export const IMAGE_HISTORIES: Histories = {
  'image-job-done': imageJob('image-job-done', { waits: 1 }),
  'image-job-opened-again': imageJob('image-job-opened-again', {
    instead: { watchRoot: async () => ({ state: ++looks === 1 ? 'gone' : 'complete' }) },
  }),
  'image-job-failed': imageJob('image-job-failed', {
    instead: {
      unpackRoot: async () => {
        throw ApplicationFailure.nonRetryable('the file is no tar', 'image_archive_invalid');
      },
    },
  }),
  'image-job-deleted': imageJob('image-job-deleted', { interrupted: 'deleted' }),
  'image-job-called-off': imageJob('image-job-called-off', { interrupted: 'cancelled' }),
  'sweep-images': sweepImages,
};
