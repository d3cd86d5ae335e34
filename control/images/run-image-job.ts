/** What a job's workflow asks of the records: its state, its turn, its end. */

import { type ImageJobWait, waitedTooLong } from '../../domain/images/job-limits.ts';
import { isEnd } from '../../domain/images/job-status.ts';
import { isDone as isDoneWith, placeInLine, queuedTooLong, WAITS_FOR_TURN } from '../../domain/images/job-turn.ts';
import { type ShellPorts, shellPorts, tooFewPorts } from '../../domain/images/shell-ports.ts';
import { lasting } from '../../domain/text/times.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  anyImageJob,
  findImageJob,
  forgetImageJobs,
  type ImageJobRow,
  type ImageWorkerRow,
  listImageWorkers,
  markImageJobCleaned,
  moveImageJob,
  noteOnImageJob,
} from '../../store/images/image-jobs.ts';
import { keepImagePlace, type OthersFirst, takeImageTurn } from '../../store/images/image-turns.ts';
import { WORKER_SILENT_MS } from './create-image-job.ts';

export interface ImageRunDependencies {
  db: Db;
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
  /** Longest wait for a turn, to be opened and again to be packed, seconds. */
  queueSeconds: number;
}

type Turn =
  | { state: 'go'; queue: string }
  | { state: 'wait'; message: string; retrySeconds: number }
  | { state: 'over' };

/** Between two questions for a machine that is not there, seconds. */
const AWAY_PAUSE_SECONDS = 15;
/** How long its place in line is kept meanwhile, ms. */
const AWAY_PLACE_MS = 60_000;
/** Where all was switched off the machines come back with this process, and may find that a job is done: so long it ends none, ms. */
const RETURN_MS = 5 * 60_000;
/** In which time all that wait in line have asked again after such a start, ms: until then none loses its place. */
const LINE_BACK_MS = 2 * 60_000;

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
  // A run that continues another one looks at it too, while it waits to be packed.
  const isDone = status === 'waiting_on_user' && isDoneWith(job);
  if (!isOver(job) && (await hasEnded(deps, job, workers, { isDone, untakenSeconds }))) {
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
  const worker = live.find((worker) => worker.queue === job.queue) ?? live[0];
  const now = deps.clock();
  if (worker === undefined) {
    await keepImagePlace(deps.db, jobId, new Date(now.getTime() + AWAY_PLACE_MS));
    return wait(deps, jobId, 'no worker that can do it has its directory of images', AWAY_PAUSE_SECONDS);
  }
  const { queue } = worker;
  const ports = shellPorts(worker, now);
  const { working, open, queueSeconds } = deps.imageLimits;
  const lapsed = now.getTime() - deps.since.getTime() < LINE_BACK_MS ? new Date(0) : now;
  const others = await deps.db
    .transaction()
    .execute((trx) => takeImageTurn(trx, { id: jobId, queue, status, limits: { working, open }, ports, now, lapsed }));
  if (others === null) return { state: 'go', queue };
  const first = whoIsFirst(others, deps.imageLimits, ports);
  if (mayEndJobs(deps, now) && queuedTooLong(others.since, queueSeconds, now)) {
    const message = `its turn did not come within ${lasting(queueSeconds)} (MUSTER_IMS_QUEUE_WAIT): ${first}`;
    if (await moveImageJob(deps.db, jobId, 'error', { message, ended_at: now })) return { state: 'over' };
  }
  return wait(deps, jobId, `${WAITS_FOR_TURN}: ${first}`, placeInLine(others.ahead).askAgainSeconds);
}

function whoIsFirst(
  { working, open, ahead, portsLacking }: OthersFirst,
  limits: ImageLimits,
  ports: ShellPorts | null,
): string {
  const atWork = `${working} other image jobs are unpacked or packed now (MUSTER_IMAGE_WORK is ${limits.working})`;
  const areOpen = `${open} other image jobs are open or wait with those that are (MUSTER_IMAGE_JOBS is ${limits.open})`;
  const before = `${ahead} that were made before it wait too`;
  const full = working >= limits.working ? atWork : open !== null && open >= limits.open ? areOpen : null;
  const portless = portsLacking !== null && ports !== null ? tooFewPorts(ports, portsLacking) : null;
  return [portless, full, ahead > 0 ? before : null].filter((reason) => reason !== null).join(', and ');
}

async function wait({ db }: ImageRunDependencies, jobId: string, message: string, retrySeconds: number): Promise<Turn> {
  await noteOnImageJob(db, jobId, message);
  return { state: 'wait', message, retrySeconds };
}

/** Machines that do what is next when they are there and able: what was unpacked lies on one of them. */
async function workersFor(
  { db }: ImageRunDependencies,
  job: ImageJobRow,
  next: ImageJobRow['status'],
): Promise<ImageWorkerRow[]> {
  const isUnpacked = next === 'waiting_on_user' || next === 'packaging_artifacts';
  const workers = await listImageWorkers(db, job.store_id);
  return workers.filter(({ queue }) => !isUnpacked || queue === job.queue);
}

/** Whether it is there and able. */
function isThere({ clock }: ImageRunDependencies, { able, seen_at }: ImageWorkerRow): boolean {
  return able && clock().getTime() - seen_at.getTime() < WORKER_SILENT_MS;
}

/** When one of the machines was last there and able; null: never. A former release does not note it of one that is not. */
function lastThere(workers: readonly ImageWorkerRow[]): Date | null {
  const times = workers.map(({ able, able_at, seen_at }) => (able ? seen_at : able_at)?.getTime() ?? 0);
  const last = Math.max(0, ...times);
  return last === 0 ? null : new Date(last);
}

function mayEndJobs({ since }: ImageRunDependencies, now: Date): boolean {
  return now.getTime() - since.getTime() >= RETURN_MS;
}

/** Ends a job that has waited too long; answers whether it did. */
async function hasEnded(
  deps: ImageRunDependencies,
  job: ImageJobRow,
  workers: readonly ImageWorkerRow[],
  { isDone, untakenSeconds }: Pick<ImageJobWait, 'isDone' | 'untakenSeconds'>,
): Promise<boolean> {
  const now = deps.clock();
  if (!mayEndJobs(deps, now)) return false;
  const reason = waitedTooLong(
    {
      status: job.status,
      createdAt: job.created_at,
      waitingSince: job.waiting_since,
      isDone,
      untakenSeconds,
      machine: { isThere: workers.some((worker) => isThere(deps, worker)), seenAt: lastThere(workers) },
      userSeconds: deps.imageLimits.userSeconds,
      queueSeconds: deps.imageLimits.queueSeconds,
    },
    now,
  );
  if (reason === null) return false;
  return moveImageJob(deps.db, job.id, 'error', { message: reason, ended_at: now });
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
