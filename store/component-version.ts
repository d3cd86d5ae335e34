/** One component and the version of its row, for a write that takes no lock before it. */
import { sql } from 'kysely';
import type { Component } from '../domain/components/schema.ts';
import { COLUMNS, type ComponentUpdate, toComponent } from './components.ts';
import type { Db } from './database.ts';

export interface ComponentVersion {
  component: Component;
  /** Differs after every write of the row. */
  version: string;
}

export async function findComponentVersion(db: Db, id: string): Promise<ComponentVersion | undefined> {
  const row = await db
    .selectFrom('components')
    .select([...COLUMNS, sql<string>`xmin::text`.as('version')])
    .where('id', '=', id)
    .executeTakeFirst();
  return row && { component: toComponent(row), version: row.version };
}

/** Writes members of a component unless its row was written since that version; answers whether it did. */
export async function updateComponentVersion(
  db: Db,
  { component, version }: ComponentVersion,
  { now, actor, members }: ComponentUpdate,
): Promise<boolean> {
  const { id: _, state, tags, ...rest } = component;
  const values = { retry_policy: null, ...rest, state: JSON.stringify(state), tags: JSON.stringify(tags) };
  const written = Object.fromEntries([...members].map((member) => [member, values[member]]));
  const result = await db
    .updateTable('components')
    .set({ ...written, updated_at: now, actor })
    .where('id', '=', component.id)
    .where(sql<boolean>`xmin = ${version}::xid`)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}
