import type { Acting } from '../../domain/access/acting.ts';
import { isSessionName } from '../../domain/sessions/naming.ts';
import type { Db } from '../../store/connection/database.ts';
import { deleteSessionRows } from '../../store/sessions/session-queries.ts';
import type { Dispatcher } from './engine-port.ts';
import { sessionNotFound } from './find-session.ts';

/** Why the work of a deleted session is cancelled. */
export const DELETED = 'the session was deleted';

/**
 * Deletes a session in any state (cfs-api 10): the name is free and the cancellation of what still runs is recorded when
 * this returns. Throws `session_not_found`.
 */
export async function deleteSession(
  deps: { db: Db; dispatcher: Dispatcher; clock(): Date },
  by: Acting,
  name: string,
): Promise<void> {
  if (!isSessionName(name)) throw sessionNotFound(name);
  const { names, cancelled } = await deps.db
    .transaction()
    .execute((trx) => deleteSessionRows(trx, { name }, { reason: DELETED, actor: by.actor, now: deps.clock() }));
  if (names.length === 0) throw sessionNotFound(name);
  if (cancelled > 0) deps.dispatcher.kick();
}
