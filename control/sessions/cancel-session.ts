import type { Acting } from '../../domain/access/acting.ts';
import { musterError } from '../../domain/errors.ts';
import type { Db } from '../../store/connection/database.ts';
import { announceStream } from '../../store/runs/streams.ts';
import type { SessionRow } from '../../store/sessions/sessions.ts';
import { requestCancel } from '../../store/sessions/sessions.ts';
import { recordReason } from '../access/attribute-writes.ts';
import type { Dispatcher } from './engine-port.ts';
import { getSessionLocked, sessionNotFound } from './find-session.ts';

/**
 * Asks for the end of a session; it is complete when no process of it is left. The first request counts, another changes
 * nothing. Throws `session_not_found`, `session_complete`.
 * @param id the only one that is meant: another that has taken the name since is `session_not_found`
 */
export async function cancelSession(
  deps: { db: Db; dispatcher: Dispatcher; clock(): Date },
  by: Acting,
  name: string,
  reason: string | undefined,
  id?: string,
): Promise<SessionRow> {
  const request = async (trx: Db): Promise<SessionRow> => {
    const before = await getSessionLocked(trx, name);
    if (id !== undefined && before.id !== id) throw sessionNotFound(name);
    if (before.status === 'complete') throw hasEnded(before);
    const text = reason ? `cancelled: ${reason}` : 'cancelled';
    const first = await requestCancel(trx, before.id, {
      reason: text,
      message: reason ? `is being cancelled: ${reason}` : 'is being cancelled',
      actor: by.actor,
      now: deps.clock(),
    });
    if (!first) return before;
    await announceStream(trx, before.id);
    return getSessionLocked(trx, name);
  };
  const row = await recordReason(reason, () => deps.db.transaction().execute(request));
  deps.dispatcher.kick();
  return row;
}

const ENDS = { true: 'succeeded', false: 'failed', unknown: 'its success is not known', none: 'not run' } as const;

/** The refusal of a session that has ended already. */
function hasEnded({ name, succeeded, completion_time }: SessionRow): Error {
  const when = completion_time === null ? '' : `, ${completion_time.toISOString().slice(11, 19)}Z`;
  const detail = `Session ${name} has ended already (${ENDS[succeeded]}${when}); nothing to cancel`;
  return musterError('session_complete', detail);
}
