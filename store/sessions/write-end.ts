/** The end of a session, written once. */

import type { Succeeded } from '../../domain/sessions/schema.ts';
import type { SessionReason } from '../../domain/sessions/session-reason.ts';
import { deleteRequests, mayBeAtWork, releaseLeases } from '../components/leases.ts';
import type { Db } from '../connection/database.ts';
import { addDuration, countOne } from '../connection/tallies.ts';
import { announceStream } from '../runs/streams.ts';
import type { SessionRow } from './sessions.ts';

export interface SessionEnd {
  succeeded: Exclude<Succeeded, 'none'>;
  message: string;
  reason: SessionReason | null;
}

/**
 * Writes the end once and gives the slot and the leases back. A session that somebody completed from outside keeps what they wrote.
 * Answers whether this call was the one that ended it; if so, `atEnd` was called in the same transaction.
 */
export async function writeEnd(
  db: Db,
  id: string,
  end: SessionEnd,
  now: Date,
  atEnd: (trx: Db, session: SessionRow) => Promise<void> = async () => undefined,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    await trx
      .updateTable('sessions')
      .set({
        status: 'complete',
        succeeded: end.succeeded,
        completion_time: now,
        message: end.message,
        reason: end.reason,
      })
      .where('id', '=', id)
      .where('status', '<>', 'complete')
      .execute();
    const ended = await trx
      .updateTable('sessions')
      .set({ stage: 'ended', phase: 'done', updated_at: now })
      .where('id', '=', id)
      .where('stage', '<>', 'ended')
      .returningAll()
      .executeTakeFirst();
    if (ended === undefined) return false;
    await atEnd(trx, ended);
    // Of what nobody answers for, nobody knows whether it still works: the sweep gives back what it keeps.
    if (await mayBeAtWork(trx, id, end.succeeded === 'unknown')) await deleteRequests(trx, id);
    else await releaseLeases(trx, id);
    await announceStream(trx, id);
    if (ended.admitted_at !== null) {
      await addDuration(trx, 'session_work', (now.getTime() - ended.admitted_at.getTime()) / 1_000);
    }
    await countOne(trx, 'sessions_ended', ended.succeeded);
    return true;
  });
}
