/** Sessions that the sweep looks after. */

import { sql } from 'kysely';
import { isWrittenUuid } from '../../domain/text/uuid.ts';
import type { Db } from '../connection/database.ts';
import type { SessionRow } from './sessions.ts';

/** Sessions whose engine side has not ended, oldest first, deleted ones too; those younger than `settledBefore` are left out. */
export async function openSessions(db: Db, settledBefore: Date): Promise<SessionRow[]> {
  return db
    .selectFrom('sessions')
    .selectAll()
    .where('stage', '<>', 'ended')
    .where('created_at', '<', settledBefore)
    .orderBy('queue')
    .execute();
}

/**
 * Deleted sessions whose traces are still there and whose work has ended. Those with jobs at an image service are left out until these are deleted;
 * where they were deleted themselves before `givenUpBefore` that is not waited for.
 */
export async function unpurgedSessions(db: Db, limit: number, givenUpBefore = new Date(0)): Promise<{ id: string }[]> {
  return db
    .selectFrom('sessions')
    .select('id')
    .where('deleted_at', 'is not', null)
    .where('purged_at', 'is', null)
    .where('stage', '=', 'ended')
    .where((eb) =>
      eb.or([
        eb('deleted_at', '<', givenUpBefore),
        eb.not(
          eb.exists(
            eb
              .selectFrom('session_images')
              .select('session_images.session_id')
              .whereRef('session_images.session_id', '=', 'sessions.id')
              .where('job_id', 'is not', null),
          ),
        ),
      ]),
    )
    .limit(limit)
    .execute();
}

export async function markPurged(db: Db, id: string, now: Date): Promise<void> {
  await db.updateTable('sessions').set({ purged_at: now }).where('id', '=', id).execute();
}

/** Removes the rows of sessions that were purged before a time and that no retry names. */
export async function forgetSessions(db: Db, purgedBefore: Date): Promise<void> {
  await sql`
    delete from sessions s where deleted_at is not null and purged_at < ${purgedBefore}
      and not exists (select from sessions retry where retry.retry_of = s.id)
  `.execute(db);
}

/** Of these session ids, those without open work: ended, or not on record at all. Names that are no ids are left out. */
export async function endedSessions(db: Db, ids: string[]): Promise<string[]> {
  const plausible = ids.filter(isWrittenUuid);
  if (plausible.length === 0) return [];
  const rows = await db
    .selectFrom('sessions')
    .select('id')
    .where('id', 'in', plausible)
    .where('stage', '<>', 'ended')
    .execute();
  const open = new Set(rows.map((row) => row.id));
  return plausible.filter((id) => !open.has(id));
}
