/** Components that were chosen for an action. */
import type { Db } from '../connection/database.ts';

/** Keeps the ids of a selection until `expiresAt`, and forgets those whose time is over. */
export async function insertSelection(
  db: Db,
  selection: { id: string; ids: readonly string[]; expiresAt: Date },
  now: Date,
): Promise<void> {
  await db.deleteFrom('component_selections').where('expires_at', '<=', now).execute();
  const { id, ids, expiresAt } = selection;
  await db
    .insertInto('component_selections')
    .values({ id, ids: [...ids], expires_at: expiresAt })
    .execute();
}

/** The ids of a selection; undefined when its time is over, or when there never was one. */
export async function findSelection(db: Db, id: string, now: Date): Promise<string[] | undefined> {
  const row = await db
    .selectFrom('component_selections')
    .select('ids')
    .where('id', '=', id)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return row?.ids;
}
