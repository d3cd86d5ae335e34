/** What is staged, and what was committed. */
import { type Selectable, sql } from 'kysely';
import type { DiffEntry } from '../../domain/propagation/diff.ts';
import type { Db } from '../connection/database.ts';
import type { HistoryTable, StagedItemsTable } from './tables.ts';

export type StagedItemRow = Selectable<StagedItemsTable>;
export type HistoryRow = Selectable<HistoryTable>;

export interface NewItem {
  resource: string;
  action: string;
  explicit: boolean;
  base_path: string;
  tags: readonly string[];
  diff?: readonly DiffEntry[];
  connections_diff?: readonly DiffEntry[];
}

/**
 * Stages items. An item of the same resource and action that is staged stays; it is asked for from now on where the new item is. All in
 * one statement, in the order given.
 */
export async function insertItems(trx: Db, items: readonly NewItem[], now: Date, actor: string | null): Promise<void> {
  if (items.length === 0) return;
  const rows = items.map(({ diff = [], connections_diff = [], ...item }) => ({ ...item, diff, connections_diff }));
  await sql`
    insert into propagation_staged_items (uid, resource, action, explicit, state, diff, connections_diff, base_path, tags, staged_at, actor)
    select gen_random_uuid(), i.resource, i.action, i.explicit, 'staged', i.diff, i.connections_diff, i.base_path, i.tags, ${now}, ${actor}
    from rows from (jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as (resource text, action text, explicit boolean, diff jsonb, connections_diff jsonb, base_path text, tags text[]))
      with ordinality as i(resource, action, explicit, diff, connections_diff, base_path, tags, place)
    order by i.place
    on conflict (resource, action) do update set explicit = true
      where excluded.explicit and not propagation_staged_items.explicit`.execute(trx);
}

/** Returns all staged items, oldest first. */
export async function listItems(db: Db): Promise<StagedItemRow[]> {
  return db.selectFrom('propagation_staged_items').selectAll().orderBy('place').execute();
}

/** Returns at most `limit` staged items after one, oldest first. */
export async function listItemPage(db: Db, after: number, limit: number): Promise<StagedItemRow[]> {
  const query = db.selectFrom('propagation_staged_items').selectAll().where('place', '>', after);
  return query.orderBy('place').limit(limit).execute();
}

/** Returns the staged items of a resource. */
export async function findItemsOf(db: Db, resource: string): Promise<StagedItemRow[]> {
  const query = db.selectFrom('propagation_staged_items').selectAll().where('resource', '=', resource);
  return query.orderBy('place').execute();
}

/** Returns the staged items of several resources, oldest first. */
export async function findItemsOfAll(db: Db, resources: readonly string[]): Promise<StagedItemRow[]> {
  const query = db.selectFrom('propagation_staged_items').selectAll();
  return query.where('resource', '=', sql<string>`any(${resources}::text[])`).orderBy('place').execute();
}

/** Returns the staged items of these uids, oldest first. */
export async function findItems(db: Db, uids: readonly string[]): Promise<StagedItemRow[]> {
  const query = db.selectFrom('propagation_staged_items').selectAll();
  return query.where('uid', '=', sql<string>`any(${uids}::uuid[])`).orderBy('place').execute();
}

export interface ItemDifference {
  uid: string;
  diff: readonly DiffEntry[];
  connections_diff: readonly DiffEntry[];
}

/** Writes the differences of items, where they have changed. */
export async function updateDifferences(trx: Db, differences: readonly ItemDifference[]): Promise<void> {
  if (differences.length === 0) return;
  await sql`
    update propagation_staged_items as i set diff = d.diff, connections_diff = d.connections_diff
    from jsonb_to_recordset(${JSON.stringify(differences)}::jsonb) as d(uid uuid, diff jsonb, connections_diff jsonb)
    where i.uid = d.uid and (i.diff, i.connections_diff) is distinct from (d.diff, d.connections_diff)`.execute(trx);
}

/** Gives the staged items of a resource its tags, but for those that a plan has. */
export async function updateItemTags(trx: Db, resource: string, tags: string[]): Promise<void> {
  const query = trx.updateTable('propagation_staged_items').set({ tags });
  await query.where('resource', '=', resource).where('plan', 'is', null).execute();
}

/** Removes items that have come to nothing. */
export async function deleteItems(trx: Db, uids: readonly string[]): Promise<void> {
  if (uids.length === 0) return;
  await sql`delete from propagation_staged_items where uid = any(${uids}::uuid[])`.execute(trx);
}

/** Removes items that a user gives up. */
export async function discardItems(trx: Db, uids: readonly string[]): Promise<void> {
  if (uids.length === 0) return;
  await sql`update propagation_staged_items set discarded = true where uid = any(${uids}::uuid[])`.execute(trx);
  await deleteItems(trx, uids);
}

/** Returns at most `limit` committed items before one, newest first. */
export async function listHistory(db: Db, before: number | null, limit: number): Promise<HistoryRow[]> {
  return db
    .selectFrom('propagation_history')
    .selectAll()
    .$if(before !== null, (query) => query.where('place', '<', before ?? 0))
    .orderBy('place', 'desc')
    .limit(limit)
    .execute();
}

export async function findHistoryItem(db: Db, uid: string): Promise<HistoryRow | null> {
  const query = db.selectFrom('propagation_history').selectAll().where('uid', '=', uid);
  return (await query.executeTakeFirst()) ?? null;
}
