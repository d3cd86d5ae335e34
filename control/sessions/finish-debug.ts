import type { Acting } from '../../domain/access/acting.ts';
import { musterError } from '../../domain/errors.ts';
import type { Db } from '../../store/connection/database.ts';
import type { SessionRow } from '../../store/sessions/sessions.ts';
import { noteWriter } from '../../store/sessions/sessions.ts';
import { recordAs } from '../access/attribute-writes.ts';
import type { SessionEngine } from './engine-port.ts';
import { getSession } from './find-session.ts';

/**
 * Ends the hold of a session that waits after a failure (cfs-flows 1.6). Throws `session_not_found`,
 * `session_not_holding`, `engine_unavailable`.
 */
export async function finishDebug(
  deps: { db: Db; engine: Pick<SessionEngine, 'finishDebug'>; clock(): Date },
  by: Acting,
  name: string,
): Promise<SessionRow> {
  const row = await getSession(deps.db, name);
  if (row.status === 'complete' || row.phase !== 'hold') {
    throw musterError(
      'session_not_holding',
      `Session ${name} does not hold after a failure, its phase is ${row.phase}`,
    );
  }
  await deps.engine.finishDebug(row.id);
  await recordAs('finish_debug', () => noteWriter(deps.db, row.id, by.actor, deps.clock()));
  return getSession(deps.db, name);
}
