import { setTimeout as delay } from 'node:timers/promises';
import { settleJob, waitedFor } from '../../../control/sessions/cluster/record-job.ts';
import { noteProgress } from '../../../control/sessions/session-progress.ts';
import type { ClusterJobs, JobSpec, JobTrouble, JobView } from '../../../domain/sessions/cluster/cluster-job.ts';
import type { SessionJobRow } from '../../../store/sessions/session-jobs.ts';
import { finalFailure } from '../../final-failure.ts';
import { type PatienceDependencies, timeLeft, waitedTooLong } from './job-patience.ts';
import { preparedJob } from './prepared-job.ts';

export interface RoomDependencies extends PatienceDependencies {
  cluster: ClusterJobs;
}

/** Between two tries, ms: nobody tells when others give room back. */
const AGAIN = 10_000;
/** For how long it is tried with the same secrets, ms: the engine takes a try that goes on for 10 min for lost. */
const LASTS = 480_000;
/** How long the end of a Job is waited for that has no pod, ms. */
const END_PATIENCE = 8_000;

/**
 * Starts a Job, as soon as the quotas of the cluster have room for it and its Secret; until then the record says what it waits for. Answers that when
 * it has been tried for long enough, and null when the Job was started. Throws the end of a session that has waited for too long.
 */
export async function startInRoom(
  deps: RoomDependencies,
  job: SessionJobRow,
  spec: JobSpec,
  signal: AbortSignal,
  againMs = AGAIN,
): Promise<JobTrouble | null> {
  const { db, cluster, clock } = deps;
  const { session_id: sessionId } = job;
  const until = clock().getTime() + LASTS;
  let hasWaited = job.waiting_since !== null;
  let told = '';
  for (;;) {
    const trouble = await cluster.start(spec, signal);
    if (trouble === null) break;
    hasWaited = true;
    const { code: reason, message } = trouble;
    if (message !== told) await noteProgress(deps, sessionId, { step: 'room', message, reason });
    told = message;
    const left = await timeLeft(deps, job, viewOf(spec, trouble), { hopeless: null });
    if (left === 0) throw await givenUp(deps, job, trouble);
    if (clock().getTime() >= until) return trouble;
    await delay(Math.min(left ?? againMs, againMs), undefined, { signal });
    if ((await preparedJob(db, sessionId)).ended_at !== null) return null;
  }
  if (!hasWaited) return null;
  // What could never be has come to be; for its containers the Job waits on.
  await waitedFor(db, sessionId, { waits: true, isImpossible: false }, clock());
  await noteProgress(deps, sessionId, { step: 'start_job' });
  return null;
}

/** A Job that is not there yet, or waits for its Secret. */
function viewOf({ name, sessionId }: JobSpec, trouble: JobTrouble): JobView {
  return { name, sessionId, phase: 'suspended', reason: '', message: '', containers: [], trouble };
}

/** Ends what there is of the Job, and stores that it was given up. */
async function givenUp(
  { db, cluster, clock }: RoomDependencies,
  job: SessionJobRow,
  trouble: JobTrouble,
): Promise<Error> {
  const outcome = waitedTooLong(trouble);
  const { view, unverified } = await cluster.end(job.name, END_PATIENCE, job.session_id);
  await settleJob(db, job.session_id, { view, outcome, unverified }, clock());
  return finalFailure(trouble.code, outcome.message);
}
