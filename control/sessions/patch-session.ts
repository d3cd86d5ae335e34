import type { Acting } from '../../domain/access/acting.ts';
import type { SessionReason } from '../../domain/sessions/session-reason.ts';
import { applyStatusPatch, readStatusPatch } from '../../domain/sessions/status-patch.ts';
import type { Db } from '../../store/connection/database.ts';
import { announceStream } from '../../store/runs/streams.ts';
import type { SessionRow } from '../../store/sessions/sessions.ts';
import { requestCancel, updateStatus } from '../../store/sessions/sessions.ts';
import type { Dispatcher } from './engine-port.ts';
import { getSessionLocked } from './find-session.ts';

/** Reason of a complete session whose result somebody has changed. */
const CHANGED_OUTSIDE: SessionReason = 'changed_outside';

const betteredBy = (actor: string | null, before: string, after: string): string =>
  `${actor ?? 'somebody'} changed the result of the complete session from ${before} to ${after}`;

const COMPLETED_OUTSIDE = 'completed from outside';

/**
 * Applies a patch of somebody else than the engine (cfs-api 10). One that completes a session whose work goes on has that
 * work cancelled; the end that was patched in stays, the engine writes no second one. `overwriteJob` is v2's rule: a job
 * that is set may be replaced. Throws `bad_request`, `session_not_found`, `session_job_conflict`.
 */
export async function patchSession(
  deps: { db: Db; dispatcher: Dispatcher; clock(): Date },
  by: Acting,
  name: string,
  body: unknown,
  rules: { overwriteJob?: boolean } = {},
): Promise<SessionRow> {
  const { actor } = by;
  const patch = readStatusPatch(body);
  const { row, cancelled } = await deps.db.transaction().execute(async (trx) => {
    const before = await getSessionLocked(trx, name);
    const now = deps.clock();
    const next = applyStatusPatch(before, patch, rules);
    const completes = next.status === 'complete' && before.status !== 'complete';
    const cancelled =
      completes &&
      (await requestCancel(trx, before.id, { reason: COMPLETED_OUTSIDE, message: COMPLETED_OUTSIDE, actor, now }));
    const betters = before.status === 'complete' && next.succeeded !== before.succeeded;
    const said = betters
      ? { message: betteredBy(actor, before.succeeded, next.succeeded), reason: CHANGED_OUTSIDE }
      : {};
    const row = await updateStatus(trx, before.id, next, { actor, now, ...said });
    await announceStream(trx, before.id);
    return { row, cancelled };
  });
  if (cancelled) deps.dispatcher.kick();
  return row;
}
