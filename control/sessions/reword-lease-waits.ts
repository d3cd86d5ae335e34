/** Sessions that wait for components say in their records whom they wait for; that is kept right here. Their workflows are not asked. */

import type { ErrorCode } from '../../domain/errors.ts';
import { leaseWaitsOf } from '../../domain/sessions/lease-holders.ts';
import { describeLeaseWait } from '../../domain/sessions/lease-wait.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  type LeaseWaiter,
  leaseWaiters,
  lockLeaseWaits,
  writeLeaseWaits,
  wrongLeaseWaiters,
} from '../../store/sessions/lease-waits.ts';

/** Why they wait. */
export const BUSY: ErrorCode = 'components_busy';

/** Pairs of a component that a session waits for, and of another session that waits, that are looked at in one go at most: less than a second. */
const PAIRS = 20_000_000;
/** So long, ms, one sweep goes on. */
const REFRESH_MS = 20_000;

/**
 * Says anew whom those wait for whose records are wrong about this session, since it has taken, given back, or asked for components. The oldest
 * first; where thousands wait for thousands of components the rest is left to the sweep. Repeating it is harmless.
 */
export async function rewordLeaseWaits(db: Db, sessionId: string, pairs = PAIRS): Promise<void> {
  const [part] = parts(await wrongLeaseWaiters(db, sessionId, BUSY), pairs);
  if (part !== undefined) await reword(db, part);
}

/** Says anew in the records of all that wait whom they wait for, the oldest first; what takes too long is left to the next sweep. */
export async function refreshLeaseWaits(db: Db, pairs = PAIRS): Promise<void> {
  const until = performance.now() + REFRESH_MS;
  for (const part of parts(await leaseWaiters(db, BUSY), pairs)) {
    if (performance.now() > until) return;
    await reword(db, part);
  }
}

/** Cuts a list so that each part is about so much work; a part has one session at least. */
function parts(waiters: readonly LeaseWaiter[], pairs: number): LeaseWaiter[][] {
  const cut: LeaseWaiter[][] = [];
  let room = 0;
  for (const waiter of waiters) {
    const cost = waiter.components * waiter.waiting;
    const last = cut.at(-1);
    if (last === undefined || cost > room) {
      cut.push([waiter]);
      room = pairs - cost;
    } else {
      last.push(waiter);
      room -= cost;
    }
  }
  return cut;
}

async function reword(db: Db, waiters: readonly LeaseWaiter[]): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const ids = waiters.map(({ id }) => id);
    const wanted = await lockLeaseWaits(trx, ids, BUSY);
    const waits = leaseWaitsOf(
      wanted.waiters.map(({ queue }) => queue),
      wanted.components,
      new Map(wanted.names.map(({ queue, name }) => [queue, name])),
    );
    const messages = wanted.waiters.flatMap(({ id, queue }) => {
      const wait = waits.get(queue);
      return wait === undefined ? [] : [{ id, message: describeLeaseWait(wait.first, wait.count) }];
    });
    if (messages.length > 0) await writeLeaseWaits(trx, BUSY, messages);
  });
}
