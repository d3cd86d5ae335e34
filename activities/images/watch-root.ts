/** The wait for the user of an image, and the choice of the job that is ended when waiting jobs fill the disk. */
import { setTimeout as pause } from 'node:timers/promises';
import { endForRoom, jobsThatMayGo, jobToWorkOn } from '../../control/images/job-work.ts';
import { musterError } from '../../domain/errors.ts';
import type { ImageBuilder, ImageState } from '../../domain/images/image-builder.ts';
import { userIsLate } from '../../domain/images/job-limits.ts';
import type { ImageWorkDependencies } from './machine-work.ts';

/** Between two looks at the disk, ms. */
const DISK_LOOK_MS = 10_000;
/** Between two looks at an environment, ms. */
const LOOK_MS = 1_000;

type DiskDependencies = Pick<ImageWorkDependencies, 'db' | 'clock' | 'minFreeDisk'> & {
  imageBuilder: Pick<ImageBuilder, 'free' | 'size'>;
};

/**
 * Waits until the user has left a marker or the environment is gone. A job that has to go since the disk is full ends in `error`. Throws
 * `image_wait_timeout`.
 */
export async function watchRoot(
  deps: ImageWorkDependencies,
  jobId: string,
  signal: AbortSignal,
): Promise<{ state: Exclude<ImageState, 'open'> }> {
  const job = await jobToWorkOn(deps.db, jobId);
  if (job === null) return { state: 'gone' };
  const { userSeconds } = deps.imageLimits;
  const until = (job.waiting_since ?? deps.clock()).getTime() + userSeconds * 1000;
  const hasToGo = watchDisk(deps, { jobId, queue: deps.imageShells.queue });
  for (;;) {
    const state = await deps.imageBuilder.state(jobId);
    if (state !== 'open') return { state };
    if (deps.clock().getTime() > until) {
      throw musterError('image_wait_timeout', userIsLate(userSeconds));
    }
    if (await hasToGo()) {
      await endForRoom(deps, jobId);
      return { state: 'gone' };
    }
    await pause(LOOK_MS, undefined, { signal });
  }
}

/**
 * Returns a function that says, at each call, whether this job has to be ended now. It has to when two calls found too little free room, no other
 * job is about to free some, and this job has the largest folder of all jobs that wait for their users. So jobs are ended one at a time. A job that
 * is unpacked ends by itself when it finds no room, and costs no other job.
 */
function watchDisk(deps: DiskDependencies, { jobId, queue }: { jobId: string; queue: string }): () => Promise<boolean> {
  const { clock, imageBuilder, minFreeDisk } = deps;
  let nextLook = clock().getTime() + DISK_LOOK_MS;
  let wasLow = false;
  return async () => {
    const now = clock().getTime();
    if (now < nextLook) return false;
    nextLook = now + DISK_LOOK_MS;
    const isLow = (await imageBuilder.free()) < minFreeDisk;
    const stays = isLow && wasLow;
    wasLow = isLow;
    return stays && (await isFirstToGo(deps, { jobId, queue }, now));
  };
}

async function isFirstToGo(
  { db, imageBuilder }: DiskDependencies,
  { jobId, queue }: { jobId: string; queue: string },
  now: number,
): Promise<boolean> {
  let largest = { id: '', size: -1 };
  for (const id of await jobsThatMayGo(db, queue, now)) {
    const size = await imageBuilder.size(id).catch(() => 0);
    if (size > largest.size) largest = { id, size };
  }
  return largest.id === jobId;
}
