/** Leases of attempts whose runs nobody saw to be gone. */
import { type MusterError, musterError } from '../../domain/errors.ts';
import { isUuid } from '../../domain/text/uuid.ts';
import type { Db } from '../../store/connection/database.ts';
import { dropLeases, lockLeases } from '../../store/propagation/leases.ts';
import { lockAttempt, markVerified } from '../../store/propagation/plan-attempts.ts';

/**
 * Gives the leases of an attempt back whose run was not seen to be gone: an operator says that it is.
 * Throws `attempt_not_found`, `plan_state` while the attempt goes on.
 */
export async function releaseAttempt(db: Db, attempt: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const row = isUuid(attempt) ? await lockAttempt(trx, attempt) : null;
    if (row === null) throw attemptNotFound(attempt);
    if (row.state === 'open') {
      throw musterError('plan_state', `Attempt ${attempt} goes on: its leases are free when it ends`);
    }
    await markVerified(trx, attempt);
    await freeLeases(trx, attempt);
  });
}

/** Gives the leases of an attempt back, in the transaction, where it has ended unseen and its run is seen to be gone now. */
export async function confirmEnd(trx: Db, attempt: string): Promise<void> {
  const row = await lockAttempt(trx, attempt);
  if (row?.state !== 'ended' || row.verified) return;
  await markVerified(trx, attempt);
  await freeLeases(trx, attempt);
}

/** Gives the leases of an attempt back, in the transaction. */
export async function freeLeases(trx: Db, attempt: string): Promise<void> {
  await lockLeases(trx);
  await dropLeases(trx, [attempt]);
}

export function attemptNotFound(attempt: string): MusterError {
  return musterError('attempt_not_found', `There is no attempt ${attempt.slice(0, 300)}`);
}
