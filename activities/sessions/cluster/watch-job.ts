import { setTimeout as delay } from 'node:timers/promises';
import { closeLeftRuns, settleJob } from '../../../control/sessions/cluster/record-job.ts';
import { loadSession, type NoteDependencies, noteProgress } from '../../../control/sessions/session-progress.ts';
import { isErrorCode } from '../../../domain/errors.ts';
import type { ClusterJobs, JobTrouble, JobView } from '../../../domain/sessions/cluster/cluster-job.ts';
import {
  exitCodesOf,
  isJobOver,
  isLost,
  type JobOutcome,
  jobOutcome,
} from '../../../domain/sessions/cluster/job-outcome.ts';
import type { Db } from '../../../store/connection/database.ts';
import {
  findSessionJob,
  noteJobReleased,
  type SessionJobRow,
  saveExitCodes,
} from '../../../store/sessions/session-jobs.ts';
import type { JobEnd } from '../contract.ts';
import { closeForeignLog, type FollowedLog, type ForeignLogDependencies, followForeignLog } from './foreign-log.ts';
import { type PatienceDependencies, type Since, timeLeft, troubleOfSilence, waitedTooLong } from './job-patience.ts';
import { keepSecret } from './keep-secret.ts';
import { preparedJob } from './prepared-job.ts';

export interface EndDependencies extends ForeignLogDependencies {
  cluster: ClusterJobs;
}

export type WatchDependencies = EndDependencies & PatienceDependencies;

/** How long the end of a Job is waited for; a cancel is over in 10 s. */
const END_PATIENCE = 8_000;
/** Between two looks at whether a Job that waits still does, ms at most. */
const LOOK_AGAIN = 10_000;
/** What the record calls it when the cluster is away. */
export const FOLLOWING = 'following the Job';
/** The rest of a log after its container ended. */
const LOG_PATIENCE = 15_000;
/** What stands in a log before its container is ended, ms: where nobody answers for it, the container is still gone in 10 s. */
const LOG_BEFORE_END = 3_000;
/** The rest of it after that, ms. */
const LOG_REST = 8_000;
const ENDED: JobOutcome = { succeeded: 'false', code: 'cancelled', message: 'its Job was ended' };

/**
 * Follows the session's Job to its end, whoever ends it; says on the record what keeps its pod from running, and gives up what
 * waits too long. How it ended is stored before its finalizers go, so that nothing is lost when Kubernetes forgets it.
 */
export async function watchJob(
  deps: WatchDependencies,
  sessionId: string,
  signal: AbortSignal,
  logPatience = LOG_PATIENCE,
): Promise<JobEnd> {
  const { db, cluster } = deps;
  const job = await preparedJob(db, sessionId);
  if (job.ended_at !== null) {
    await finishSettling(deps, job);
    return storedEnd(job);
  }
  const stop = new AbortController();
  const both = AbortSignal.any([signal, stop.signal]);
  const keeping = keepSecret(deps, job, both);
  const session = await loadSession(db, sessionId);
  const log = job.profile === 'compatible' ? followForeignLog(deps, job, session, both) : null;
  try {
    const seen = await followToEnd(deps, job, signal);
    // Of one that is deleted, or gone, pods may go on.
    const isEnded = seen.tooLong === null && (seen.view.phase === 'complete' || seen.view.phase === 'failed');
    const { view, unverified } = isEnded
      ? { ...seen, unverified: null }
      : await cluster.end(job.name, END_PATIENCE, sessionId);
    const last = seen.view.phase === 'gone' ? view : seen.view;
    const outcome = seen.tooLong ?? jobOutcome(last, (await preparedJob(db, sessionId)).steps);
    // What a Job is given up for is known to nobody else, so that is stored first of all.
    const until = isEnded ? signal : undefined;
    if (log !== null) await closeForeignLog(deps, sessionId, log, view, logPatience, until);
    await settleJob(db, sessionId, { view, outcome, unverified }, deps.clock());
    if (unverified === null) await release(deps, job);
    return storedEnd(await preparedJob(db, sessionId));
  } finally {
    stop.abort();
    await keeping;
  }
}

/**
 * Deletes the Job and stores how it ended; says what could not be verified. Harmless for one that is over. A log that is its pod's is
 * read before, since a node throws it away with its container, and whoever follows it may be a worker that is no more.
 */
export async function endJob(
  deps: EndDependencies,
  sessionId: string,
  signal: AbortSignal,
  logPatience = { before: LOG_BEFORE_END, rest: LOG_REST },
): Promise<{ unverified: string | null }> {
  const { db, cluster } = deps;
  const job = await findSessionJob(db, sessionId);
  if (job === null) return { unverified: null };
  if (job.ended_at !== null && job.unverified === null) {
    await finishSettling(deps, job);
    return { unverified: null };
  }
  const stop = new AbortController();
  try {
    const both = AbortSignal.any([signal, stop.signal]);
    const log = job.profile === 'compatible' ? await takeUpLog(deps, job, both, logPatience.before) : null;
    const { view, unverified } = await cluster.end(job.name, END_PATIENCE, sessionId);
    if (log !== null && unverified === null)
      await closeForeignLog(deps, sessionId, log, view, logPatience.rest, signal);
    // One that had done all its work before nobody heard of it has succeeded; whether its session was cancelled is another matter.
    const reached = jobOutcome(view, (await preparedJob(db, sessionId)).steps);
    const outcome = unverified === null && reached.succeeded === 'true' ? reached : ENDED;
    await settleJob(db, sessionId, { view, outcome, unverified }, deps.clock());
    if (unverified === null) await release(deps, job);
    return { unverified };
  } finally {
    stop.abort();
  }
}

/** Follows the log of a Job that is about to be ended; what stands in it is stored when this returns, unless that takes too long. */
async function takeUpLog(
  deps: EndDependencies,
  job: SessionJobRow,
  signal: AbortSignal,
  patienceMs: number,
): Promise<FollowedLog> {
  const log = followForeignLog(deps, job, await loadSession(deps.db, job.session_id), signal, true);
  const over = new AbortController();
  await Promise.race([log.current, delay(patienceMs, undefined, { signal: over.signal })]);
  over.abort();
  return log;
}

/** What follows the stored end of a Job, should who stored it have died right after. */
async function finishSettling(deps: EndDependencies, job: SessionJobRow): Promise<void> {
  await closeLeftRuns(deps.db, job.session_id, deps.clock());
  if (job.unverified === null && job.released_at === null) await release(deps, job);
}

async function release({ db, cluster, clock }: EndDependencies, job: SessionJobRow): Promise<void> {
  await cluster.release(job.name, job.session_id);
  await noteJobReleased(db, job.name, clock());
}

function storedEnd({ end_code, end_message, unverified }: SessionJobRow): JobEnd {
  const succeeded = end_code === null ? 'true' : isLost(end_code) ? 'unknown' : 'false';
  const rest = unverified === null ? '' : `; not verified: ${unverified}`;
  return { succeeded, reason: end_code, message: `${end_message ?? ''}${rest}` };
}

/** Follows it until it is over, has waited for too long, or goes on in vain. */
async function followToEnd(
  deps: WatchDependencies,
  job: SessionJobRow,
  signal: AbortSignal,
): Promise<{ view: JobView; tooLong: JobOutcome | null }> {
  const limit = new AbortController();
  const since: Since = { hopeless: null };
  let timer: NodeJS.Timeout | undefined;
  let over = false;
  let last: JobView | null = null;
  let told = await wordsOfTrouble(deps.db, job.session_id);
  let waited: JobTrouble | null = null;
  const look = async (view: JobView) => {
    const left = await timeLeft(deps, job, view, since);
    waited = view.trouble ?? (await troubleOfSilence(deps, job, view));
    const text = waited?.message ?? '';
    if (text !== told) await tell(deps, job.session_id, waited);
    told = text;
    clearTimeout(timer);
    if (over || left === null) return;
    if (left === 0) limit.abort();
    else lookAgain(view, Math.min(left, LOOK_AGAIN));
  };
  // A pod gets on without a change that the cluster could tell, when it reaches Muster.
  const lookAgain = (view: JobView, afterMs: number) => {
    timer = setTimeout(() => look(view).catch(() => over || lookAgain(view, LOOK_AGAIN)), afterMs);
  };
  try {
    await deps.cluster.follow(
      job.name,
      async (view) => {
        last = view;
        if (isJobOver(view)) return true;
        if (job.profile === 'compatible') await saveExitCodes(deps.db, job.session_id, exitCodesOf(view));
        await look(view);
        return false;
      },
      AbortSignal.any([signal, limit.signal]),
    );
  } catch (error) {
    if (!limit.signal.aborted || signal.aborted) throw error;
  } finally {
    over = true;
    clearTimeout(timer);
  }
  const view = last ?? (await deps.cluster.view(job.name));
  const tooLong = limit.signal.aborted && !isJobOver(view);
  if (tooLong && since.hopeless !== null) {
    return { view, tooLong: jobOutcome(view, (await preparedJob(deps.db, job.session_id)).steps) };
  }
  return { view, tooLong: tooLong ? waitedTooLong(waited) : null };
}

/** What the record says of following the Job, when that failed before; '' when it says something else. */
async function wordsOfTrouble(db: Db, sessionId: string): Promise<string> {
  const { message } = await loadSession(db, sessionId);
  return message?.startsWith(`${FOLLOWING} failed`) ? message : '';
}

async function tell(deps: NoteDependencies, sessionId: string, trouble: JobTrouble | null): Promise<void> {
  const { phase } = await loadSession(deps.db, sessionId);
  if (trouble === null) return noteProgress(deps, sessionId, { step: 'job_goes_on', phase });
  const { code, message } = trouble;
  await noteProgress(deps, sessionId, { step: 'trouble', phase, message, reason: isErrorCode(code) ? code : null });
}
