import { type RecordedEnd, recordAttempt } from '../../control/propagation/record-attempt.ts';
import { isMusterError } from '../../domain/errors.ts';
import type { Db } from '../../store/connection/database.ts';
import { claimAttempt, findAttempt, markAttemptStarted } from '../../store/propagation/plan-attempts.ts';
import type { AttemptRow } from '../../store/propagation/plan-tables.ts';
import type { RunAttemptAnswer, RunAttemptInput } from './contract.ts';

/** What executes the actions of one machine. */
export interface AttemptRunner {
  /**
   * Executes an attempt, once, however often it is asked for it, and returns its end when its run is over and seen to be gone. `started`:
   * to be called when the run goes on. `wantsEnd`: whether the run is to be ended. The signal means that another watcher takes over: the
   * run goes on.
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
  const machine = await claimAttempt(db, { plan, id }, hostId);
  if (machine === null) return 'ended';
  if (machine !== hostId) return 'elsewhere';
  const attempt = await findAttempt(db, id);
  if (attempt === null) return 'ended';
  if (attempt.end_wanted && attempt.started_at === null) {
    await recordAttempt({ db, clock }, id, CANCELLED);
    return 'ended';
  }
  const end = await attempts
    .run(attempt, {
      signal,
      started: () => markAttemptStarted(db, id, clock()),
      wantsEnd: async () => (await findAttempt(db, id))?.end_wanted ?? true,
    })
    .catch(endOfRefusal);
  await recordAttempt({ db, clock }, id, end);
  return 'ended';
}

/** End of an attempt that is over before anything of it was started. */
const CANCELLED: RecordedEnd = { outcome: 'error', code: 'cancelled', message: 'Cancelled', verified: true };

/** What is refused for good is the end of the attempt; what is not known is tried again. */
function endOfRefusal(error: unknown): RecordedEnd {
  if (!isMusterError(error)) throw error;
  return { outcome: 'error', code: error.code, message: error.detail, verified: true };
}
