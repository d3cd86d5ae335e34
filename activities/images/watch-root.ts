/** Which job has to go when those that wait for their users fill the disk. */

import type { ImageBuilder } from '../../domain/images/image-builder.ts';
import { isDone } from '../../domain/images/job-turn.ts';
import type { Db } from '../../store/connection/database.ts';
import { imageJobsOnDisk } from '../../store/images/image-jobs.ts';

/** Between two looks at the disk, ms. */
const LOOK_MS = 10_000;
/** The files of a job that has ended are removed at once; so long, ms, others wait whether that was enough. */
const REMOVAL_MS = 60_000;

/**
 * Answers a function that says, asked again and again, whether this job has to go now: too little was free at two looks, nothing is about
 * to free some, and of all that wait for their users it has the largest folder. So one goes at a time, and what is unpacked,
 * which ends by itself when it finds no room, costs no other job.
 */
export function watchDisk(
  deps: {
    db: Db;
    clock(): Date;
    imageBuilder: Pick<ImageBuilder, 'free' | 'size'>;
    minFreeDisk: number;
  },
  { jobId, queue }: { jobId: string; queue: string },
): () => Promise<boolean> {
  const { clock, imageBuilder, minFreeDisk } = deps;
  let nextLook = clock().getTime() + LOOK_MS;
  let wasLow = false;
  return async () => {
    const now = clock().getTime();
    if (now < nextLook) return false;
    nextLook = now + LOOK_MS;
    const isLow = (await imageBuilder.free()) < minFreeDisk;
    const stays = isLow && wasLow;
    wasLow = isLow;
    return stays && (await isFirstToGo(deps, { jobId, queue }, new Date(now - REMOVAL_MS)));
  };
}

async function isFirstToGo(
  { db, imageBuilder }: { db: Db; imageBuilder: Pick<ImageBuilder, 'size'> },
  { jobId, queue }: { jobId: string; queue: string },
  removedSince: Date,
): Promise<boolean> {
  const jobs = await imageJobsOnDisk(db, queue);
  const frees = ({ status, ended_at, deleted_at }: (typeof jobs)[number]) =>
    status === 'fetching_image' || [ended_at, deleted_at].some((time) => time !== null && time > removedSince);
  if (jobs.some(frees)) return false;
  let largest = { id: '', size: -1 };
  // One whose user is done waits for its turn to be packed, which nobody breaks off.
  const mayGo = jobs.filter((job) => job.status === 'waiting_on_user' && !isDone(job));
  for (const { id } of mayGo) {
    const size = await imageBuilder.size(id).catch(() => 0);
    if (size > largest.size) largest = { id, size };
  }
  return largest.id === jobId;
}
