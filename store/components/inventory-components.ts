/** Components as an inventory needs them: id and tags. */
import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';

export interface InventoryRow {
  id: string;
  tags: Record<string, string>;
}

/** Those of `ids` that exist, or all components. */
export async function inventoryComponents(db: Db, ids: readonly string[] | null): Promise<InventoryRow[]> {
  return db
    .selectFrom('components')
    .select(['id', 'tags'])
    .$if(ids !== null, (query) => query.where('id', '=', sql<string>`any(${ids})`))
    .execute();
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
