import type { Acting } from '../../domain/access/acting.ts';
import type { Db } from '../../store/connection/database.ts';
import { deleteSessionRows } from '../../store/sessions/session-queries.ts';
import { DELETED } from './delete-session.ts';
import type { Dispatcher } from './engine-port.ts';
import { type SessionFilterQuery, sessionFilter } from './list-sessions.ts';

/**
 * Deletes all sessions that match; without `status` the complete ones only, with an empty one those of any status
 * (cfs-api 10). Answers their names, sorted. Throws `bad_tags`.
 */
export async function deleteSessions(
  deps: { db: Db; dispatcher: Dispatcher; clock(): Date },
  by: Acting,
  query: SessionFilterQuery,
): Promise<string[]> {
  const now = deps.clock();
  const filter = sessionFilter({ ...query, status: query.status ?? 'complete' }, now);
  const { names, cancelled } = await deps.db
    .transaction()
    .execute((trx) => deleteSessionRows(trx, { filter }, { reason: DELETED, actor: by.actor, now }));
  if (cancelled > 0) deps.dispatcher.kick();
  return names;
}
