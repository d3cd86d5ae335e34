import { musterError } from '../../domain/errors.ts';
import { isSessionName } from '../../domain/sessions/naming.ts';
import type { Db } from '../../store/connection/database.ts';
import type { SessionRow } from '../../store/sessions/sessions.ts';
import { findSession, lockSession } from '../../store/sessions/sessions.ts';

/** The refusal of a name that no session has. */
export function sessionNotFound(name: string): Error {
  return musterError('session_not_found', `Session ${name} could not be found`);
}

/**
 * The session of that name. Throws `session_not_found`, and where another one has the name now `session_replaced`.
 * @param id of the session that is meant; undefined: the one that has the name
 */
export async function getSession(db: Db, name: string, id?: string): Promise<SessionRow> {
  const row = isSessionName(name) ? await findSession(db, name) : null;
  if (row === null) throw sessionNotFound(name);
  if (id !== undefined && row.id !== id.toLowerCase()) {
    throw musterError('session_replaced', `Another session has the name ${name} now: its id is ${row.id}`, 'id');
  }
  return row;
}

/** The session of that name, locked until the transaction ends. Throws `session_not_found`. */
export async function getSessionLocked(trx: Db, name: string): Promise<SessionRow> {
  const row = isSessionName(name) ? await lockSession(trx, name) : null;
  if (row === null) throw sessionNotFound(name);
  return row;
}
