import { type RecordedEnd, recordAttempt } from '../../control/propagation/record-attempt.ts';
import { ERRORS, isMusterError } from '../../domain/errors.ts';
import type { Db } from '../../store/connection/database.ts';
import { claimAttempt, findAttempt, markAttemptStarted } from '../../store/propagation/plan-attempts.ts';
import { noteReason } from '../../store/propagation/plan-nodes.ts';
import type { AttemptRow } from '../../store/propagation/plan-tables.ts';
import type { RunAttemptAnswer, RunAttemptInput } from './contract.ts';

/** What executes the actions of one machine. */
export interface AttemptRunner {
  /**
   * Executes an attempt, once, however often it is asked for it, and returns its end when its run is over. Before it starts anything, and
   * while the run goes on, it asks `wantsEnd`, whether the run is to be ended; it calls `started` when the run goes on. The signal means
   * that another watcher takes over: the run goes on.
   */
  run(attempt: AttemptRow, watch: AttemptWatch): Promise<RecordedEnd>;
}

export interface AttemptWatch {
  signal: AbortSignal;
  started(): Promise<void>;
  wantsEnd(): Promise<boolean>;
}

export interface RunAttemptDependencies {
  db: Db;
  clock(): Date;
  /** Id of this machine's data directory. */
  hostId: string;
  attempts: AttemptRunner;
}

/** Brings an attempt to its end on the machine that has its files, or has none yet and is this one. */
export async function runAttempt(
  { db, clock, hostId, attempts }: RunAttemptDependencies,
  { plan, attempt: id }: RunAttemptInput,
  signal: AbortSignal,
): Promise<RunAttemptAnswer> {
  const attempt = await claimAttempt(db, { plan, id }, hostId);
  if (attempt === null) return 'ended';
  if (attempt.machine !== hostId) return 'elsewhere';
  const end = await attempts
    .run(attempt, {
      signal,
      started: () => markAttemptStarted(db, id, clock()),
      wantsEnd: async () => {
        const now = await findAttempt(db, id);
        return now === null || now.state === 'ended' || now.end_wanted;
      },
    })
    .catch((error: unknown) => endOfRefusal(db, attempt, error, signal));
  await recordAttempt({ db, clock }, id, end);
  return 'ended';
}

/** What is refused for good is the end of the attempt; what may be otherwise soon is tried again, and its node says so meanwhile. */
async function endOfRefusal(db: Db, attempt: AttemptRow, error: unknown, signal: AbortSignal): Promise<RecordedEnd> {
  if (isMusterError(error) && !ERRORS[error.code].retryable) {
    return { outcome: 'error', code: error.code, message: error.detail, verified: true };
  }
  // A watcher that hands over has met with nothing. Where the reason cannot be noted, the attempt is tried again all the same.
  if (!signal.aborted) await noteReason(db, attempt, againText(error)).catch(() => undefined);
  throw error;
}

function againText(error: unknown): string {
  if (isMusterError(error)) return `is tried again until it can go on (${error.code}): ${error.detail}`;
  return 'is tried again after an unexpected failure, which the log of the worker tells';
}
