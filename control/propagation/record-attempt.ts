/** What becomes of an attempt, written down once: its machine, its start, its end. A later word changes nothing. */
import type { Outcome } from '../../domain/propagation/event-schema.ts';
import { endAttempt } from '../../store/propagation/plan-attempts.ts';
import type { StepDependencies } from './dependencies.ts';
import { confirmEnd, freeLeases } from './release-leases.ts';

/** A message on a node has at most so many characters. */
const LONGEST_MESSAGE = 4_096;

export interface RecordedEnd {
  outcome: Outcome;
  code?: string | null;
  message?: string | null;
  /** Whether the run was seen to be gone: only then its leases are free. */
  verified: boolean;
}

/**
 * Writes the end of an attempt, and gives its leases back where its run is gone. Where the attempt was given up before, the run that is seen
 * to be gone at last gives the leases back, and changes nothing else. Returns whether this call wrote the end.
 */
export async function recordAttempt(
  { db, clock }: StepDependencies,
  attempt: string,
  { outcome, code = null, message = null, verified }: RecordedEnd,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const cut = message?.slice(0, LONGEST_MESSAGE) ?? null;
    const isWritten = await endAttempt(trx, attempt, { outcome, code, message: cut, verified }, clock());
    if (!verified) return isWritten;
    if (!isWritten) await confirmEnd(trx, attempt);
    else await freeLeases(trx, attempt);
    return isWritten;
  });
}
