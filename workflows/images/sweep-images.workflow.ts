/**
 * The sweep of the image service, started by a Schedule: for what a crash has left.
 *
 *  1. go on with jobs whose workflow is not there
 *  2. on each machine with a directory of images: remove what no record names; files of images are set aside first, and removed days later
 *
 * History: 12 events and 6 for each machine.
 */
import { ActivityFailure, proxyActivities } from '@temporalio/workflow';
import type { ImageSweepActivities } from '../../activities/images/contract.ts';

const common = { startToCloseTimeout: '10m', heartbeatTimeout: '30s', retry: { maximumAttempts: 2 } } as const;
const { sweepImageJobs } = proxyActivities<ImageSweepActivities>(common);

export async function sweepImagesWorkflow(): Promise<void> {
  const { queues } = await sweepImageJobs();
  await Promise.all(queues.map(clean));
}

/** A machine that is away cleans up when it is back. */
async function clean(taskQueue: string): Promise<void> {
  const host = proxyActivities<ImageSweepActivities>({ ...common, taskQueue, scheduleToStartTimeout: '45s' });
  try {
    await host.cleanImageHost();
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
  }
}
