import { isEnd } from '../../domain/images/job-status.ts';
import type { Db } from '../../store/connection/database.ts';
import { forgetImageJobs, type ImageJobRow, liveImageQueues, openImageJobs } from '../../store/images/image-jobs.ts';
import { releaseLeftPorts } from '../../store/images/shell-ports.ts';
import type { Tell, WantedWorkflow } from '../temporal/tell.ts';
import { WORKER_SILENT_MS } from './create-image-job.ts';
import { endedImageJob, wantedImageJob } from './wanted-image-job.ts';

/** A job this young may still be on its way to the engine. */
const SETTLE_MS = 20_000;

/** After so long (ms) the workflow of a job that is over has heard of it. */
const HEARD_MS = 24 * 60 * 60_000;
/** Time (ms) in which one sweep tells Temporal of jobs; the next one goes on. */
const TELL_MS = 20_000;

export interface SweepImagesDependencies {
  db: Db;
  tell: Tell;
  clock(): Date;
}

/**
 * Tells Temporal of open jobs again, as one may not have heard of them, and of jobs that are over to workflows that may not have heard it.
 * Forgets deleted jobs of which nothing is left. Gives back ports of jobs that are over.
 */
export async function sweepImageJobs({ db, tell, clock }: SweepImagesDependencies): Promise<void> {
  const now = clock().getTime();
  const jobs = await openImageJobs(db, new Date(now - SETTLE_MS));
  await forgetImageJobs(
    db,
    jobs.filter(({ cleaned }) => cleaned).map(({ id }) => id),
  );
  const wanted = jobs.filter(({ cleaned }) => !cleaned).map((job) => wantedOf(job, now));
  await tell(wanted, TELL_MS);
  await releaseLeftPorts(db, clock());
}

/** What a job that is not cleaned up wants. A workflow takes only so many words, and a machine may be away for weeks. */
function wantedOf({ id, status, ended_at, deleted_at }: ImageJobRow, now: number): WantedWorkflow {
  const isOver = deleted_at !== null || isEnd(status);
  const since = (deleted_at ?? ended_at)?.getTime() ?? now;
  return isOver && now - since < HEARD_MS ? endedImageJob(id) : wantedImageJob(id);
}

/** Queues of the machines that have a directory of images. */
export async function imageMachines({ db, clock }: Pick<SweepImagesDependencies, 'db' | 'clock'>): Promise<string[]> {
  return liveImageQueues(db, new Date(clock().getTime() - WORKER_SILENT_MS));
}
