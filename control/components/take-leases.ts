import {
  countLeases,
  insertLeases,
  type LeaseHolder,
  leaseBlockers,
  lockLeases,
  yieldLeases,
} from '../../store/components/leases.ts';
import type { Db } from '../../store/connection/database.ts';

export type { LeaseHolder };

export interface LeaseRequest {
  sessionId: string;
  componentIds: readonly string[];
  now: Date;
}

export type LeaseAnswer = { taken: true } | { taken: false; holders: LeaseHolder[] };

/**
 * Takes the leases of these components for a session (design: at most one active session per component), all or none, in
 * the caller's transaction; the session's record must be in it or before it. Leases that the session has count as
 * taken, so repeating it is harmless. Others keep it off what they have, and older ones that are running off what they wait
 * for. Those that are not running yet give way to one that is: it has the slot that they wait for.
 */
export async function takeLeases(trx: Db, request: LeaseRequest): Promise<LeaseAnswer> {
  const { sessionId, now } = request;
  const componentIds = [...new Set(request.componentIds)];
  await lockLeases(trx);
  if ((await countLeases(trx, sessionId, componentIds)) === componentIds.length) return { taken: true };
  const blockers = await leaseBlockers(trx, sessionId, componentIds);
  const stay = blockers.filter(({ yields }) => !yields);
  const asHolders = (found: typeof blockers) => found.map(({ session, components }) => ({ session, components }));
  if (stay.length > 0) return { taken: false, holders: asHolders(stay) };
  const gaveWay = await yieldLeases(
    trx,
    blockers.map((blocker) => blocker.sessionId),
  );
  if (!gaveWay) return { taken: false, holders: asHolders(blockers) };
  await insertLeases(trx, sessionId, componentIds, now);
  return { taken: true };
}
