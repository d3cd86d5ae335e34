import { type Selectable, type SelectQueryBuilder, sql } from 'kysely';
import type { Component } from '../domain/components/schema.ts';
import type { Db } from './database.ts';
import type { ComponentsTable, Database } from './tables.ts';

/** What SQL filters of components; all members must match. The status is computed by the caller. */
export interface ComponentSelection {
  ids?: readonly string[] | undefined;
  enabled?: boolean | undefined;
  desiredConfig?: string | undefined;
  tags?: readonly (readonly [key: string, value: string])[] | undefined;
}

/** Rows that one statement writes at most; bounds the memory of bulk writes. */
const WRITE_CHUNK = 2_000;

export async function findComponent(db: Db, id: string): Promise<Component | undefined> {
  const row = await db.selectFrom('components').selectAll().where('id', '=', id).executeTakeFirst();
  return row && toComponent(row);
}

/** At most `limit` components after an id, by code point. */
export async function pageComponents(
  db: Db,
  selection: ComponentSelection,
  afterId: string,
  limit: number,
): Promise<Component[]> {
  const rows = await pageQuery(db, selection, afterId, limit).execute();
  return rows.map(toComponent);
}

/** The same, locked until the transaction ends. Every writer locks in the order of ids, so none waits in a circle. */
export async function lockComponentPage(
  trx: Db,
  selection: ComponentSelection,
  afterId: string,
  limit: number,
): Promise<Component[]> {
  const rows = await pageQuery(trx, selection, afterId, limit).forUpdate().execute();
  return rows.map(toComponent);
}

/** The existing ones of these components by id, locked until the transaction ends. */
export async function lockComponents(trx: Db, ids: readonly string[]): Promise<Map<string, Component>> {
  const rows = await trx
    .selectFrom('components')
    .selectAll()
    .where('id', '=', sql<string>`any(${ids})`)
    .orderBy('id')
    .forUpdate()
    .execute();
  return new Map(rows.map((row) => [row.id, toComponent(row)]));
}

/** Creates or replaces components, each id once. */
export async function upsertComponents(trx: Db, components: readonly Component[], now: Date): Promise<void> {
  for (const chunk of chunksOf(components)) {
    await sql`
      insert into components (id, desired_config, error_count, retry_policy, enabled, tags, state, updated_at)
      select id, desired_config, error_count, retry_policy, enabled, tags, state, ${now}::timestamptz
      from ${recordset(chunk)} order by id collate "C"
      on conflict (id) do update set desired_config = excluded.desired_config, error_count = excluded.error_count,
        retry_policy = excluded.retry_policy, enabled = excluded.enabled, tags = excluded.tags, state = excluded.state,
        updated_at = excluded.updated_at, actor = excluded.actor`.execute(trx);
  }
}

/** Writes components that the transaction has locked. */
export async function updateComponents(trx: Db, components: readonly Component[], now: Date): Promise<void> {
  for (const chunk of chunksOf(components)) {
    await sql`
      update components c set desired_config = r.desired_config, error_count = r.error_count,
        retry_policy = r.retry_policy, enabled = r.enabled, tags = r.tags, state = r.state,
        updated_at = ${now}::timestamptz
      from ${recordset(chunk)} where c.id = r.id`.execute(trx);
  }
}

/** Answers whether there was one. */
export async function deleteComponent(db: Db, id: string): Promise<boolean> {
  const result = await db.deleteFrom('components').where('id', '=', id).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

function pageQuery(
  db: Db,
  selection: ComponentSelection,
  afterId: string,
  limit: number,
): SelectQueryBuilder<Database, 'components', Selectable<ComponentsTable>> {
  let query = db.selectFrom('components').selectAll().where('id', '>', afterId).orderBy('id').limit(limit);
  if (selection.ids !== undefined) query = query.where('id', '=', sql<string>`any(${selection.ids})`);
  if (selection.enabled !== undefined) query = query.where('enabled', '=', selection.enabled);
  if (selection.desiredConfig !== undefined) query = query.where('desired_config', '=', selection.desiredConfig);
  for (const [key, value] of selection.tags ?? []) query = query.where(sql<boolean>`tags ->> ${key} = ${value}`);
  return query;
}

function toComponent(row: Selectable<ComponentsTable>): Component {
  return {
    id: row.id,
    state: row.state,
    desired_config: row.desired_config,
    error_count: row.error_count,
    ...(row.retry_policy === null ? {} : { retry_policy: row.retry_policy }),
    enabled: row.enabled,
    tags: row.tags,
  };
}

function recordset(components: readonly Component[]) {
  return sql`jsonb_to_recordset(${JSON.stringify(components)}::jsonb) as r(id text, desired_config text,
    error_count bigint, retry_policy bigint, enabled boolean, tags jsonb, state jsonb)`;
}

function* chunksOf(components: readonly Component[]): Generator<readonly Component[]> {
  for (let start = 0; start < components.length; start += WRITE_CHUNK) {
    yield components.slice(start, start + WRITE_CHUNK);
  }
}
