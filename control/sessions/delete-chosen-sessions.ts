import type { Acting } from '../../domain/access/acting.ts';
import type { SessionsDelete, SessionsDeleted } from '../../domain/sessions/many-schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { deleteSessionRows, findNames, type SessionFilter } from '../../store/sessions/session-queries.ts';
import { recordReason } from '../access/attribute-writes.ts';
import { DELETED } from './delete-session.ts';
import type { Dispatcher } from './engine-port.ts';
import { wholeSessionFilter } from './list-sessions.ts';

/**
 * Deletes the named sessions, or all that match, in one transaction; sessions that have not ended are cancelled. Without `status` a filter
 * means the complete ones. Names that no session has are told, and the others are done. Repeating it is harmless. Throws `bad_tags`,
 * `bad_hostlist`, `hostlist_too_large`.
 */
export async function deleteChosenSessions(
  deps: { db: Db; dispatcher: Dispatcher; clock(): Date },
  by: Acting,
  body: SessionsDelete,
): Promise<SessionsDeleted> {
  const now = deps.clock();
  const { names, reason } = body;
  const wanted = await deleteSelection(deps.db, body, now);
  const remove = async (trx: Db): Promise<SessionsDeleted> => {
    const known = await findNames(trx, names ?? []);
    const gone = await deleteSessionRows(trx, { filter: wanted }, { reason: DELETED, actor: by.actor, now });
    const missing = [...new Set(names)].filter((name) => !known.has(name));
    return { deleted: gone.names.length, cancelled: gone.cancelled, names: gone.names, missing };
  };
  const answer = await recordReason(reason, () => deps.db.transaction().execute(remove));
  if (answer.cancelled > 0) deps.dispatcher.kick();
  return answer;
}

/** Which sessions a request means. Throws `bad_tags`, `bad_hostlist`, `hostlist_too_large`. */
export async function deleteSelection(db: Db, { names, filter }: SessionsDelete, now: Date): Promise<SessionFilter> {
  if (filter === undefined) return { names: names ?? [] };
  return wholeSessionFilter(db, { ...filter, status: filter.status ?? 'complete' }, now);
}
