/** What a job's workflow asks of the records: its state, its turn, its end. */
import type { Kysely } from 'kysely';
import { type Wait, waitedTooLong } from '../../domain/images/job-limits.ts';
import { isEnd } from '../../domain/images/job-status.ts';
import { WAITS_FOR_TURN } from '../../domain/images/job-turn.ts';
import {
  anyImageJob,
  findImageJob,
  forgetImageJobs,
  type ImageJobRow,
  type ImageWorkerRow,
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
  /** When this process began. */
  since: Date;
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
/** Where all was switched off the machines come back with this process, and may find that a job is done: so long it ends none, ms. */
const RETURN_MS = 5 * 60_000;

/**
 * What the job is to do next. A job that is not there any more is over, and one that has waited too long ends in `error`.
 * @param untakenSeconds for how long no machine has taken up what the job asked of it
 */
export async function readImageRun(deps: ImageRunDependencies, jobId: string, untakenSeconds = 0) {
  const job = await anyImageJob(deps.db, jobId);
  const { stepSeconds } = deps.imageLimits;
  if (job === null) return { status: 'error' as const, over: true, queue: null, stepSeconds };
  const { status, queue } = job;
  const workers = await workersFor(deps, job, status);
  if (!isOver(job) && (await hasEnded(deps, job, workers, { isDone: false, untakenSeconds }))) {
    return { status: 'error' as const, over: true, queue, stepSeconds };
  }
  return { status, over: isOver(job), queue, stepSeconds };
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
  const workers = await workersFor(deps, job, status);
  const isDone = status === 'packaging_artifacts';
  if (await hasEnded(deps, job, workers, { isDone, untakenSeconds: 0 })) return { state: 'over' };
  // The machine that has the job already, while it is there; else another one that can.
  const live = workers.filter((worker) => isThere(deps, worker));
  const queue = (live.find((worker) => worker.queue === job.queue) ?? live[0])?.queue;
  if (queue === undefined)
    return wait(deps, jobId, 'no worker that can do it has its directory of images', LATER_SECONDS);
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

/** Machines that could do what is next, there or away: what was unpacked lies on one of them. */
async function workersFor(
  { db }: ImageRunDependencies,
  job: ImageJobRow,
  next: ImageJobRow['status'],
): Promise<ImageWorkerRow[]> {
  const isUnpacked = next === 'waiting_on_user' || next === 'packaging_artifacts';
  const workers = await listImageWorkers(db, job.store_id);
  return workers.filter(({ able, queue }) => able && (!isUnpacked || queue === job.queue));
}

function isThere({ clock }: ImageRunDependencies, { seen_at }: ImageWorkerRow): boolean {
  return clock().getTime() - seen_at.getTime() < WORKER_SILENT_MS;
}

/** Ends a job that has waited too long; answers whether it did. */
async function hasEnded(
  deps: ImageRunDependencies,
  job: ImageJobRow,
  workers: readonly ImageWorkerRow[],
  { isDone, untakenSeconds }: Pick<Wait, 'isDone' | 'untakenSeconds'>,
): Promise<boolean> {
  const now = deps.clock();
  if (now.getTime() - deps.since.getTime() < RETURN_MS) return false;
  const reason = waitedTooLong(
    {
      status: job.status,
      createdAt: job.created_at,
      waitingSince: job.waiting_since,
      isDone,
      untakenSeconds,
      machine: { isThere: workers.some((worker) => isThere(deps, worker)), seenAt: workers[0]?.seen_at ?? null },
      userSeconds: deps.imageLimits.userSeconds,
    },
    now,
  );
  if (reason === null) return false;
  return moveImageJob(deps.db, job.id, 'error', { message: reason, ended_at: now });
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
