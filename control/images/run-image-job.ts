/** What a job's workflow asks of the records: its state, its turn, its end. */
import type { Kysely } from 'kysely';
import { isEnd } from '../../domain/images/job-status.ts';
import { WAITS_FOR_TURN } from '../../domain/images/job-turn.ts';
import {
  anyImageJob,
  findImageJob,
  forgetImageJobs,
  type ImageJobRow,
  listImageWorkers,
  markImageJobCleaned,
  moveImageJob,
  noteOnImageJob as noteOnRow,
  takeImageTurn as takeTurn,
} from '../../store/image-jobs.ts';
import type { Database } from '../../store/tables.ts';
import { WORKER_SILENT_MS } from './create-image-job.ts';

export interface ImageRunDependencies {
  db: Kysely<Database>;
  clock(): Date;
  imageLimits: ImageLimits;
}

export interface ImageLimits {
  /** Jobs that unpack or pack at once on a machine, and that have their root on its disk. */
  working: number;
  open: number;
  /** Longest time of a step of work, and of the user, seconds. */
  stepSeconds: number;
  userSeconds: number;
}

type Turn =
  | { state: 'go'; queue: string }
  | { state: 'wait'; message: string; retrySeconds: number }
  | { state: 'over' };

/** Times between two questions for a turn, seconds. */
const RETRY_SECONDS = 3;
const LATER_SECONDS = 15;

/** What the job is to do next. A job that is not there any more is over. */
export async function readImageRun(deps: ImageRunDependencies, jobId: string) {
  const job = await anyImageJob(deps.db, jobId);
  const { stepSeconds } = deps.imageLimits;
  if (job === null) return { status: 'error' as const, over: true, queue: null, stepSeconds };
  return { status: job.status, over: isOver(job), queue: job.queue, stepSeconds };
}

function isOver(job: ImageJobRow): boolean {
  return isEnd(job.status) || job.deleted_at !== null;
}

/** Asks for the turn of the machine that has the job's directory, and says in the record what the job waits for. */
export async function takeImageRunTurn(
  deps: ImageRunDependencies,
  jobId: string,
  status: 'fetching_image' | 'packaging_artifacts',
): Promise<Turn> {
  const job = await findImageJob(deps.db, jobId);
  if (job === null || isOver(job)) return { state: 'over' };
  const queue = await queueFor(deps, job);
  if (queue === null) return wait(deps, jobId, 'no worker that can do it has its directory of images', LATER_SECONDS);
  const { working, open } = deps.imageLimits;
  const others = await deps.db
    .transaction()
    .execute((trx) => takeTurn(trx, { id: jobId, queue, status, limits: { working, open } }));
  if (others === null) return { state: 'go', queue };
  const message =
    others.working >= working
      ? `${others.working} other image jobs are unpacked or packed now (MUSTER_IMAGE_WORK is ${working})`
      : `${others.open} other image jobs are open or wait with those that are (MUSTER_IMAGE_JOBS is ${open})`;
  return wait(deps, jobId, `${WAITS_FOR_TURN}: ${message}`, RETRY_SECONDS);
}

async function wait({ db }: ImageRunDependencies, jobId: string, message: string, retrySeconds: number): Promise<Turn> {
  await noteOnRow(db, jobId, message);
  return { state: 'wait', message, retrySeconds };
}

/** The machine that has the job already, while it is there; else another one that can. */
async function queueFor({ db, clock }: ImageRunDependencies, job: ImageJobRow): Promise<string | null> {
  const since = clock().getTime() - WORKER_SILENT_MS;
  const able = (await listImageWorkers(db, job.store_id)).filter((row) => row.able && row.seen_at.getTime() > since);
  return (able.find(({ queue }) => queue === job.queue) ?? able[0])?.queue ?? null;
}

export async function noteOnImageRun({ db }: ImageRunDependencies, jobId: string, message: string): Promise<void> {
  await noteOnRow(db, jobId, message);
}

/** The job ends in `error` with the reason, unless it has ended. */
export async function failImageRun({ db, clock }: ImageRunDependencies, jobId: string, message: string): Promise<void> {
  await moveImageJob(db, jobId, 'error', { message, ended_at: clock() });
}

/** Nothing is left on its machine: its port may be used again some time later, and a deleted job is forgotten. */
export async function closeImageRun({ db, clock }: ImageRunDependencies, jobId: string): Promise<void> {
  await markImageJobCleaned(db, jobId, clock());
  await forgetImageJobs(db, [jobId]);
}
