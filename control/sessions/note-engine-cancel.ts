import type { Db } from '../../store/connection/database.ts';
import { announceStream } from '../../store/runs/streams.ts';
import { requestCancel } from '../../store/sessions/sessions.ts';

/** Who asks, where somebody cancels in the engine itself: it does not tell who that is. */
const ENGINE = 'temporal';
const REASON = 'cancelled in Temporal';

/** Records that a session's workflow was cancelled in the engine; nothing changes where a cancel is on record, or the session has ended. */
export async function noteCancelInEngine(db: Db, sessionId: string, now: Date): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const cancel = { reason: REASON, message: 'is being cancelled in Temporal', actor: ENGINE, now };
    if (await requestCancel(trx, sessionId, cancel)) await announceStream(trx, sessionId);
  });
}
