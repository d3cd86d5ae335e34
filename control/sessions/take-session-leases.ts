import type { Client } from '@temporalio/client';
import type { Kysely } from 'kysely';
import type { Options } from '../../domain/configurations/schema.ts';
import { type ErrorCode, musterError } from '../../domain/errors.ts';
import { describeLeaseWait } from '../../domain/sessions/lease-wait.ts';
import {
  deleteRequests,
  leaseBlockers,
  requestedLeases,
  rewordLeaseWait,
  waitingForLeases,
} from '../../store/leases.ts';
import { isWithdrawn, lockSessionById, writeProgress } from '../../store/session-engine.ts';
import type { Database } from '../../store/tables.ts';
import { type LeaseAnswer, takeLeases } from '../components/take-leases.ts';
import { wakeLeaseWaiters } from './wake-lease-waiters.ts';

export type SessionLeases = { state: 'taken' } | { state: 'waiting'; message: string; retrySeconds: number };

/** A waiting session is woken when its components are given back; this is only for what nobody announces: 6 events each time, for weeks. */
const RETRY_SECONDS = 900;
const BUSY: ErrorCode = 'components_busy';

/**
 * Takes the leases that a running session needs (`noteNeededComponents`), all or none; the record says whom it waits for.
 * When option `allow_overlap` is true by now, a session that takes part only because of it waits no longer. Repeating it
 * is harmless. Throws `cancelled` when the record has ended.
 */
export async function takeSessionLeases(
  deps: { db: Kysely<Database>; client: Client; readOptions(): Promise<Options> },
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
    return takeLeases(trx, { sessionId, componentIds: components, now: new Date() });
  });
  if (answer.taken) {
    // Others may have waited because this one waited longer, or for components of sessions that gave way to it.
    await wakeLeaseWaiters(deps);
    return { state: 'taken' };
  }
  if (answer.holders.length === 0) return { state: 'waiting', message: 'ends', retrySeconds: RETRY_SECONDS };
  const message = describeLeaseWait(answer.holders);
  await writeProgress(db, sessionId, { phase: 'lease', message, reason: BUSY });
  return { state: 'waiting', message, retrySeconds: RETRY_SECONDS };
}

/** So long, ms, records are brought up to date; with thousands of components each takes its time. */
const REFRESH_MS = 20_000;

/** Says in the records of sessions that wait for components whom they wait for now, the oldest first; their workflows are not asked. */
export async function refreshLeaseWaits(db: Kysely<Database>): Promise<void> {
  const until = Date.now() + REFRESH_MS;
  for (const { id } of await waitingForLeases(db)) {
    if (Date.now() > until) return;
    const { components } = await requestedLeases(db, id);
    const holders = (await leaseBlockers(db, id, components)).filter(({ yields }) => !yields);
    if (holders.length > 0) await rewordLeaseWait(db, id, BUSY, describeLeaseWait(holders));
  }
}
