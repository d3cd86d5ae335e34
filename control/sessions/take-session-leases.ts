import type { Client } from '@temporalio/client';
import type { Options } from '../../domain/configurations/schema.ts';
import { musterError } from '../../domain/errors.ts';
import { describeLeaseWait } from '../../domain/sessions/lease-wait.ts';
import { deleteRequests, requestedLeases } from '../../store/components/leases.ts';
import type { Db } from '../../store/connection/database.ts';
import { isWithdrawn } from '../../store/sessions/admission.ts';
import { lockSessionById } from '../../store/sessions/sessions.ts';
import { type LeaseAnswer, takeLeases } from '../components/take-leases.ts';
import { rewordLeaseWaits } from './reword-lease-waits.ts';
import { noteProgress } from './session-progress.ts';
import { wakeLeaseWaiters } from './wake-lease-waiters.ts';

export type SessionLeases = { state: 'taken' } | { state: 'waiting'; message: string; retrySeconds: number };

/** A waiting session is woken when its components are given back; this is only for what nobody announces: 6 events each time, for weeks. */
const RETRY_SECONDS = 900;

/**
 * Takes the leases that a running session needs (`noteNeededComponents`), all or none; the record says whom it waits for, and so do
 * those of others that wait for it. When option `allow_overlap` is true by now, a session that takes part only because of it waits
 * no longer. Repeating it is harmless. Throws `cancelled` when the record has ended.
 */
export async function takeSessionLeases(
  deps: { db: Db; client: Client; readOptions(): Promise<Options>; clock(): Date },
  sessionId: string,
): Promise<SessionLeases> {
  const { db } = deps;
  const { allow_overlap: overlap } = await deps.readOptions();
  const answer = await db.transaction().execute(async (trx): Promise<LeaseAnswer> => {
    // Locked, so that its end either comes after the leases were taken, and gives them back, or is seen here.
    const session = await lockSessionById(trx, sessionId);
    if (session === null || session.stage === 'ended') throw musterError('cancelled', 'the session has ended');
    const { components, yielded } = await requestedLeases(trx, sessionId);
    if (components.length === 0) return { taken: true };
    // Its cancel is on the way.
    if (isWithdrawn(session)) return { taken: false, holders: [] };
    if (overlap && !yielded) {
      await deleteRequests(trx, sessionId);
      return { taken: true };
    }
    return takeLeases(trx, { sessionId, componentIds: components, now: deps.clock() });
  });
  if (answer.taken) {
    await rewordLeaseWaits(db, sessionId);
    // Others may have waited because this one waited longer, or for components of sessions that gave way to it.
    await wakeLeaseWaiters(deps);
    return { state: 'taken' };
  }
  if (answer.holders.length === 0) return { state: 'waiting', message: 'ends', retrySeconds: RETRY_SECONDS };
  const message = describeLeaseWait(answer.holders);
  await noteProgress(deps, sessionId, { step: 'leases', message });
  // Whom it waits for may have changed before that was written, and younger ones wait for it as well.
  await rewordLeaseWaits(db, sessionId);
  return { state: 'waiting', message, retrySeconds: RETRY_SECONDS };
}
