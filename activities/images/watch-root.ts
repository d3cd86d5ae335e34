/** The wait for the user of an image, and which job has to go when those that wait fill the disk. */
import { setTimeout as pause } from 'node:timers/promises';
import { endForRoom, jobsThatMayGo, jobToWorkOn } from '../../control/images/job-work.ts';
import { musterError } from '../../domain/errors.ts';
import type { ImageBuilder, ImageState } from '../../domain/images/image-builder.ts';
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
      const detail = `nobody said within ${userSeconds} s that it is done (MUSTER_IMAGE_USER_WAIT)`;
      throw musterError('image_wait_timeout', detail);
    }
    if (await hasToGo()) {
      await endForRoom(deps, jobId);
      return { state: 'gone' };
    }
    await pause(LOOK_MS, undefined, { signal });
  }
}

/**
 * Answers a function that says, asked again and again, whether this job has to go now: too little was free at two looks, nothing is about
 * to free some, and of all that wait for their users it has the largest folder. So one goes at a time, and what is unpacked,
 * which ends by itself when it finds no room, costs no other job.
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
