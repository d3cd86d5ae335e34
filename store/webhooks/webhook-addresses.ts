/**
 * Addresses of webhooks, which are secrets: column `sealed_url` has the whole address, encrypted, `url` what is shown of it. Where `url`
 * is a whole address, an older release has written it, and it is the one that counts.
 */
import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';

/** Webhooks whose `url` may be a whole address. */
export async function listOpenAddresses(db: Db): Promise<{ name: string; url: string }[]> {
  const shown = sql<boolean>`url !~ '^https?://[^/]+/[*]{3}$'`;
  return db.selectFrom('webhooks').select(['name', 'url']).where(shown).orderBy('name').execute();
}

/** Puts what is shown, and the sealed address, in the place of a whole address, unless somebody has changed it meanwhile. */
export async function storeSealed(
  db: Db,
  { name, url }: { name: string; url: string },
  sealed: { url: string; sealed_url: Buffer },
): Promise<boolean> {
  const result = await db
    .updateTable('webhooks')
    .set(sealed)
    .where('name', '=', name)
    .where('url', '=', url)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}
