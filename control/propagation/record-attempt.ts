/** What becomes of an attempt, written down once: its machine, its start, its end. A later word changes nothing. */
import type { Outcome } from '../../domain/propagation/event-schema.ts';
import { dropLeases, lockLeases } from '../../store/propagation/leases.ts';
import { endAttempt } from '../../store/propagation/plan-attempts.ts';
import type { StepDependencies } from './dependencies.ts';

/** A message on a node has at most so many characters. */
const LONGEST_MESSAGE = 4_096;

export interface RecordedEnd {
  outcome: Outcome;
  code?: string | null;
  message?: string | null;
  /** Whether the run was seen to be gone: only then its leases are free. */
  verified: boolean;
}

/** Writes the end of an attempt, and gives its leases back where its run is gone. Returns whether this call wrote it. */
export async function recordAttempt(
  { db, clock }: StepDependencies,
  attempt: string,
  { outcome, code = null, message = null, verified }: RecordedEnd,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const cut = message?.slice(0, LONGEST_MESSAGE) ?? null;
    const isWritten = await endAttempt(trx, attempt, { outcome, code, message: cut, verified }, clock());
    if (!isWritten || !verified) return isWritten;
    await lockLeases(trx);
    await dropLeases(trx, [attempt]);
    return true;
  });
}
