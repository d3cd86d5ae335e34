/** Changes of sources' secrets that are under way, so that a broken-off one leaves nothing behind. */
import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';

/** Notes that the secret is about to be changed, or is to go. */
export async function beginSecretChange(db: Db, id: string, secretName: string): Promise<void> {
  await db.insertInto('secret_changes').values({ id, secret_name: secretName }).execute();
}

/** The change is done; answers false when it was taken for broken off, and its secret removed. */
export async function endSecretChange(trx: Db, id: string): Promise<boolean> {
  const result = await trx
    .deleteFrom('secret_changes')
    .where('id', '=', id)
    .where('settling', '=', false)
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** Takes a change for broken off unless a source names its secret; answers that secret. Whoever was at it cannot end it any more. */
export async function breakOffSecretChange(db: Db, id: string): Promise<string | undefined> {
  const row = await db
    .updateTable('secret_changes')
    .set({ settling: true })
    .where('id', '=', id)
    .where(
      sql<boolean>`not exists (select from sources where record #>> '{credentials,secret_name}' = secret_changes.secret_name)`,
    )
    .returning('secret_name')
    .executeTakeFirst();
  return row?.secret_name;
}

/** Forgets a change. */
export async function removeSecretChange(db: Db, id: string): Promise<void> {
  await db.deleteFrom('secret_changes').where('id', '=', id).execute();
}

/** Changes that began before then, oldest first. */
export async function listSecretChanges(db: Db, before: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('secret_changes')
    .select('id')
    .where('begun_at', '<', before)
    .orderBy('begun_at')
    .limit(100)
    .execute();
  return rows.map((row) => row.id);
}
