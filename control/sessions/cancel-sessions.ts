import type { Acting } from '../../domain/access/acting.ts';
import { parseTagFilter } from '../../domain/components/tags.ts';
import type { SessionsCancel, SessionsCancelled } from '../../domain/sessions/many-schema.ts';
import type { SessionStatus } from '../../domain/sessions/schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { type CancelSelection, cancelSessionRows, findNames } from '../../store/sessions/session-queries.ts';
import { recordReason } from '../access/attribute-writes.ts';
import type { Dispatcher } from './engine-port.ts';
import { wholeSessionFilter } from './list-sessions.ts';

/**
 * Asks for the end of all sessions that match and have not ended, in one transaction. Those that wait for their turn are complete at once,
 * the others when no process of them is left. Repeating it is harmless. Throws `bad_tags`, `bad_hostlist`, `hostlist_too_large`.
 */
export async function cancelSessions(
  deps: { db: Db; dispatcher: Dispatcher; clock(): Date },
  by: Acting,
  body: SessionsCancel,
): Promise<SessionsCancelled> {
  const now = deps.clock();
  const { reason, names } = body;
  const selection = await cancelSelection(deps.db, body, now);
  const words = {
    reason: reason ? `cancelled: ${reason}` : 'cancelled',
    message: reason ? `is being cancelled: ${reason}` : 'is being cancelled',
  };
  const request = async (trx: Db): Promise<SessionsCancelled> => {
    const others = await namesNotCancelled(trx, names);
    return { ...(await cancelSessionRows(trx, selection, { ...words, actor: by.actor, now })), ...others };
  };
  const answer = await recordReason(reason, () => deps.db.transaction().execute(request));
  if (answer.cancelled > 0) deps.dispatcher.kick();
  return answer;
}

/** Returns which open sessions a request means. Throws `bad_tags`, `bad_hostlist`, `hostlist_too_large`. */
export async function cancelSelection(
  db: Db,
  { status, names, tags, filter }: SessionsCancel,
  now: Date,
): Promise<CancelSelection> {
  const { status: oneStatus, ...wanted } = await wholeSessionFilter(db, filter ?? {}, now);
  const allTags = [...(wanted.tags ?? []), ...parseTagFilter(tags ?? '')];
  return { ...wanted, names, status: both(status, oneStatus), tags: allTags };
}

/** Returns the given names of complete sessions, and the given names that no session has. */
export async function namesNotCancelled(
  db: Db,
  names: readonly string[] = [],
): Promise<Pick<SessionsCancelled, 'complete' | 'missing'>> {
  const known = names.length === 0 ? new Map<string, boolean>() : await findNames(db, names);
  return {
    complete: names.filter((name) => known.get(name) === true),
    missing: names.filter((name) => !known.has(name)),
  };
}

/** The statuses that both members allow; undefined: all. */
function both(
  statuses: readonly SessionStatus[] | undefined,
  one: SessionStatus | null | undefined,
): SessionStatus[] | undefined {
  if (!one) return statuses && [...statuses];
  return statuses === undefined || statuses.includes(one) ? [one] : [];
}
