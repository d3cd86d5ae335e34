/** Components as an inventory needs them: id and tags. */
import { sql } from 'kysely';
import type { Db } from './database.ts';

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
