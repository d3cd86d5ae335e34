/** How a session's Job goes on, waits and ends, on record. */

import { storableText } from '../../../domain/runs/storable-text.ts';
import type { JobView } from '../../../domain/sessions/cluster/cluster-job.ts';
import { exitCodesOf, type JobOutcome } from '../../../domain/sessions/cluster/job-outcome.ts';
import type { Db } from '../../../store/connection/database.ts';
import { openSessionRuns } from '../../../store/runs/runs.ts';
import { giveOrder, noteWaiting } from '../../../store/sessions/job-orders.ts';
import { addExitCodes, findSessionJob, noteTeardown, saveJobEnd } from '../../../store/sessions/session-jobs.ts';
import { closeRun } from '../../runs/follow-run.ts';

/** Lets the containers that wait for the session's work go, with this exit code. */
export async function finishJob(db: Db, sessionId: string, exitCode: number): Promise<void> {
  await giveOrder(db, sessionId, { action: 'finish', exit_code: exitCode });
  await noteTeardown(db, sessionId, { done: true, exit_code: exitCode });
}

/** For how long a Job has waited, and for what can never be, ms; 0: it does not. */
export interface Waited {
  waiting: number;
  impossible: number;
}

/**
 * Notes whether the Job waits, and whether for what can never be (undefined: as it stands); answers for how long, whichever worker
 * saw it begin.
 */
export async function waitedFor(
  db: Db,
  sessionId: string,
  { waits, isImpossible }: { waits: boolean; isImpossible?: boolean | undefined },
  now: Date,
): Promise<Waited> {
  const since = await noteWaiting(db, sessionId, waits ? now : null, isImpossible);
  const passed = (from: Date | null) => (from === null ? 0 : now.getTime() - from.getTime());
  return { waiting: passed(since.waiting_since), impossible: passed(since.impossible_since) };
}

/**
 * Stores how the session's Job ended, once, with exit codes that only come later where that was not verified, and closes runs that nobody
 * will end any more; one of which the container's exit status is all that is known ends with that.
 */
export async function settleJob(
  db: Db,
  sessionId: string,
  { view, outcome, unverified }: { view: JobView; outcome: JobOutcome; unverified: string | null },
  now: Date,
): Promise<void> {
  const { code, message } = outcome;
  const end = { exitCodes: exitCodesOf(view), code, message: storableText(message), unverified };
  await saveJobEnd(db, sessionId, end, now);
  await addExitCodes(db, sessionId, end.exitCodes);
  await closeLeftRuns(db, sessionId, now);
}

/** What the events of a run say that a pod took with it: its spool is in that pod. */
const REST_IS_MISSING =
  'its pod ended before it had handed in all of this run: the last events and output may be missing';

/**
 * Closes the runs of a session whose Job has ended; repeated by whoever takes up what a crash has left between the two. Of one that
 * had begun its events say that the rest of it may be missing, unless its pod has found it lost, which it says after all else.
 */
export async function closeLeftRuns(db: Db, sessionId: string, now: Date): Promise<void> {
  const runs = await openSessionRuns(db, sessionId);
  if (runs.length === 0) return;
  const isWhole = (await findSessionJob(db, sessionId))?.steps.ansible?.code === 'run_lost';
  for (const run of runs) {
    const warnings = run.state === 'started' && !isWhole ? [REST_IS_MISSING] : [];
    await closeRun(db, run, { exit: null, results: null, warnings }, now);
  }
}
