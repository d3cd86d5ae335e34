/** Components as an inventory needs them: id and tags. */
import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';

export interface InventoryRow {
  id: string;
  tags: Record<string, string>;
}

/** Those of `ids` that exist. */
export async function inventoryComponents(db: Db, ids: readonly string[]): Promise<InventoryRow[]> {
  return db.selectFrom('components').select(['id', 'tags']).where('id', '=', sql<string>`any(${ids})`).execute();
}

/**
 * All components in the order of ids, `size` at a time. One statement finds them, so they are of one moment. The database reads the next page
 * while `take` works on one: there are never more than two.
 */
export async function eachInventoryPage(
  db: Db,
  size: number,
  take: (page: readonly InventoryRow[]) => Promise<void>,
): Promise<void> {
  await db
    .transaction()
    .setAccessMode('read only')
    .execute(async (trx) => {
      await sql`declare fleet no scroll cursor for select id, tags from components order by id`.execute(trx);
      const fetched = () => {
        const page = sql<InventoryRow>`fetch ${sql.raw(String(size))} from fleet`.execute(trx);
        // It may fail while another page is worked on, when nothing waits for it yet.
        page.catch(() => undefined);
        return page;
      };
      let next = fetched();
      for (;;) {
        const { rows } = await next;
        if (rows.length < size) return rows.length === 0 ? undefined : take(rows);
        next = fetched();
        try {
          await take(rows);
        } catch (error) {
          // The transaction ends when nothing of it is under way.
          await next.catch(() => undefined);
          throw error;
        }
      }
    });
}

/**
 * Whether a tag of any component makes a group of one of these names (`groupOfTag`). Only what could be such a name is looked for, since
 * every tag of the fleet has to be read: ids of hardware, without `_`, cost nothing.
 */
export async function anyGroupOfTags(db: Db, names: readonly string[]): Promise<boolean> {
  const possible = names.filter((name) => /^[A-Za-z0-9_]*_[A-Za-z0-9_]*$/.test(name));
  if (possible.length === 0) return false;
  const lengths = [...new Set(possible.map(({ length }) => length))];
  const { rows } = await sql<{ found: boolean }>`select exists (
      select from components, jsonb_each_text(tags) as tag (key, value)
      where tag.value <> '' and not starts_with(tag.key, 'ansible_')
        and char_length(tag.key) + char_length(tag.value) + 1 = any(${lengths}::integer[])
        and regexp_replace(tag.key || '_' || tag.value, '[^A-Za-z0-9_]', '_', 'g') = any(${possible}::text[])
    ) as found`.execute(db);
  return rows[0]?.found === true;
}
