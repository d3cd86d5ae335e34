import type { Kysely } from 'kysely';
import { deleteLeases, insertLeases, type LeaseHolder, leaseHolders } from '../../store/leases.ts';
import type { Database } from '../../store/tables.ts';

export type { LeaseHolder };

export interface LeaseRequest {
  sessionId: string;
  componentIds: readonly string[];
  now: Date;
}

/** `holders`: who has how many of them; empty when the last of them was given back while this was asked. */
export type LeaseAnswer = { taken: true } | { taken: false; holders: LeaseHolder[] };

/**
 * Takes the leases of these components for a session (design: at most one active session per component), all or none, in
 * the caller's transaction; the session's record must be in it or before it. Leases that the session has count as
 * taken, so repeating it is harmless. One that somebody else takes or gives back at the same moment is waited for.
 */
export async function takeLeases(trx: Kysely<Database>, request: LeaseRequest): Promise<LeaseAnswer> {
  const { sessionId, componentIds, now } = request;
  const wanted = new Set(componentIds).size;
  const { held, inserted } = await insertLeases(trx, sessionId, componentIds, now);
  if (held === wanted) return { taken: true };
  await deleteLeases(trx, sessionId, inserted);
  return { taken: false, holders: await leaseHolders(trx, sessionId, componentIds) };
}
