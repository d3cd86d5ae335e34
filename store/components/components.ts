import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { DriftStatus } from '../../domain/components/drift-schema.ts';
import type { Component } from '../../domain/components/schema.ts';
import type { WritableMember } from '../../domain/components/write-component.ts';
import type { Db } from '../connection/database.ts';
import type { ComponentsTable } from './tables.ts';
import { hasTags } from './tag-condition.ts';

/** What SQL filters of components; all members must match. By status: `component-status.ts`. */
export interface ComponentSelection {
  ids?: readonly string[] | undefined;
  enabled?: boolean | undefined;
  desiredConfig?: string | undefined;
  tags?: readonly (readonly [key: string, value: string])[] | undefined;
  /** Only components whose record changed after this time. */
  changedSince?: Date | undefined;
  /** Only components whose id has this text in it, in any case. */
  textInId?: string | undefined;
  /** Only components of which the last check found this of some layer. */
  drift?: DriftStatus | undefined;
}

/** Rows that one statement writes at most; bounds the memory of bulk writes. */
const WRITE_CHUNK = 2_000;

const SMALL_COLUMNS = ['id', 'desired_config', 'error_count', 'retry_policy', 'enabled', 'tags', 'boot'] as const;
/** What makes a component. */
export const COLUMNS = [...SMALL_COLUMNS, 'state'] as const;
export type ComponentRow = Pick<Selectable<ComponentsTable>, (typeof COLUMNS)[number]>;

export async function findComponent(db: Db, id: string): Promise<Component | undefined> {
  const row = await db.selectFrom('components').select(COLUMNS).where('id', '=', id).executeTakeFirst();
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

/** The same without what they reached, which is most of a component: their `state` is empty here. */
export async function lockStatelessPage(
  trx: Db,
  selection: ComponentSelection,
  afterId: string,
  limit: number,
): Promise<Component[]> {
  const rows = await pageQuery(trx, selection, afterId, limit)
    .clearSelect()
    .select(SMALL_COLUMNS)
    .forUpdate()
    .execute();
  return rows.map((row) => toComponent({ ...row, state: [] }));
}

/** A component and when it last booted. */
export interface BootedComponent {
  component: Component;
  bootedAt: Date | null;
}

/** The existing ones of these components by id, in the order of ids, locked until the transaction ends. */
export async function lockComponents(trx: Db, ids: readonly string[]): Promise<Map<string, BootedComponent>> {
  const rows = await trx
    .selectFrom('components')
    .select([...COLUMNS, 'booted_at'])
    .where('id', '=', sql<string>`any(${ids})`)
    .orderBy('id')
    .forUpdate()
    .execute();
  return new Map(rows.map((row) => [row.id, { component: toComponent(row), bootedAt: row.booted_at }]));
}

/** Ids of those of these components whose state and tags have more than so many bytes as text; a state that is stored as it is is not written out. */
export async function largeComponents(db: Db, ids: readonly string[], bytes: number): Promise<string[]> {
  const size = (column: 'state' | 'tags') => sql<number>`case when pg_column_compression(${sql.ref(column)}) is null
    and pg_column_size(${sql.ref(column)}) < ${bytes / 16} then 0 else octet_length(${sql.ref(column)}::text) end`;
  const rows = await db
    .selectFrom('components')
    .select('id')
    .where('id', '=', sql<string>`any(${ids})`)
    .where(sql<boolean>`${size('state')} + ${size('tags')} > ${bytes}`)
    .execute();
  return rows.map(({ id }) => id);
}

/** When those of these components booted that ever told so. */
export async function readBootTimes(db: Db, ids: readonly string[]): Promise<Map<string, Date | null>> {
  const rows = await db
    .selectFrom('components')
    .select(['id', 'booted_at'])
    .where('id', '=', sql<string>`any(${ids})`)
    .where('booted_at', 'is not', null)
    .execute();
  return new Map(rows.map((row) => [row.id, row.booted_at]));
}

/**
 * Creates or replaces components, each id once. A boot that differs from the stored one happened now; the time of the last
 * one is no part of the record and stays when that is replaced.
 */
export async function upsertComponents(
  trx: Db,
  components: readonly Component[],
  now: Date,
  actor: string | null,
): Promise<void> {
  for (const chunk of chunksOf(components)) {
    await sql`
      insert into components
        (id, desired_config, error_count, retry_policy, enabled, tags, state, boot, booted_at, updated_at, actor)
      select id, desired_config, error_count, retry_policy, enabled, tags, state, muster ->> 'boot',
        case when muster ->> 'boot' is not null then ${now}::timestamptz end, ${now}::timestamptz, ${actor}::text
      from ${recordset(chunk)} order by id collate "C"
      on conflict (id) do update set desired_config = excluded.desired_config, error_count = excluded.error_count,
        retry_policy = excluded.retry_policy, enabled = excluded.enabled, tags = excluded.tags, state = excluded.state,
        boot = excluded.boot, booted_at = case when excluded.boot is distinct from components.boot
          then coalesce(excluded.booted_at, components.booted_at) else components.booted_at end,
        updated_at = excluded.updated_at, actor = excluded.actor`.execute(trx);
  }
}

/** Who writes, when, and which members; what is left alone costs nothing, least of all its indexes. */
export interface ComponentUpdate {
  now: Date;
  actor: string | null;
  members: ReadonlySet<WritableMember>;
  /** Ids of those that told of a boot; its time is `now`. Default: none. */
  booted?: ReadonlySet<string>;
}

/** Writes members of components that the transaction has locked. */
export async function updateComponents(
  trx: Db,
  components: readonly Component[],
  { now, actor, members, booted = NONE }: ComponentUpdate,
): Promise<void> {
  const set = [...members].map((member) =>
    member === 'muster' ? sql`boot = r.muster ->> 'boot', ` : sql`${sql.ref(member)} = r.${sql.ref(member)}, `,
  );
  for (const chunk of chunksOf(components)) {
    const written = members.has('state') ? chunk : chunk.map(({ state: _, ...rest }) => rest);
    const boots = chunk.filter(({ id }) => booted.has(id)).map(({ id }) => id);
    const bootedAt =
      boots.length === 0
        ? sql``
        : sql`booted_at = case when c.id = any(${boots}) then ${now}::timestamptz else c.booted_at end, `;
    await sql`
      update components c set ${sql.join(set, sql``)} ${bootedAt} updated_at = ${now}::timestamptz, actor = ${actor}::text
      from ${recordset(written)} where c.id = r.id`.execute(trx);
  }
}

const NONE: ReadonlySet<string> = new Set();

/** Ids of the components that have a tag. */
export async function idsWithTag(db: Db, key: string, value: string): Promise<string[]> {
  let query = db.selectFrom('components').select('id');
  for (const condition of hasTags('components.tags', [[key, value]])) query = query.where(condition);
  return (await query.execute()).map(({ id }) => id);
}

/** Those of these ids that are of a component. */
export async function knownIds(db: Db, ids: readonly string[]): Promise<string[]> {
  const rows = await db.selectFrom('components').select('id').where('id', '=', sql<string>`any(${ids})`).execute();
  return rows.map(({ id }) => id);
}

/** Deletes these components; answers the ids of those that were there. */
export async function deleteComponents(trx: Db, ids: readonly string[]): Promise<string[]> {
  const rows = await trx.deleteFrom('components').where('id', '=', sql<string>`any(${ids})`).returning('id').execute();
  return rows.map(({ id }) => id);
}

/** Answers whether there was one. */
export async function deleteComponent(db: Db, id: string): Promise<boolean> {
  const result = await db.deleteFrom('components').where('id', '=', id).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** The conditions of a selection but the desired configuration, over `components`. */
export function restricted(selection: ComponentSelection): RawBuilder<boolean>[] {
  const { ids, enabled, tags, changedSince, textInId, drift } = selection;
  return [
    ...(changedSince === undefined ? [] : [sql<boolean>`components.updated_at > ${changedSince}`]),
    ...(textInId === undefined ? [] : [sql<boolean>`strpos(lower(components.id), lower(${textInId})) > 0`]),
    ...(ids === undefined ? [] : [sql<boolean>`components.id = any(${ids})`]),
    ...(enabled === undefined ? [] : [sql<boolean>`components.enabled = ${enabled}`]),
    ...(drift === undefined
      ? []
      : [sql<boolean>`components.id in (select component_id from drift where drift.status = ${drift})`]),
    ...hasTags('components.tags', tags ?? []),
  ];
}

function pageQuery(db: Db, selection: ComponentSelection, afterId: string, limit: number) {
  let query = db.selectFrom('components').select(COLUMNS).where('id', '>', afterId).orderBy('id').limit(limit);
  const conditions = conditionsOf(selection);
  if ((selection.tags ?? []).length > 0) {
    query = query.where('id', '=', sql<string>`any(array(${pageOfTagged(conditions, afterId, limit)}))`);
  }
  for (const condition of conditions) query = query.where(condition);
  return query;
}

function conditionsOf(selection: ComponentSelection): RawBuilder<boolean>[] {
  const { desiredConfig } = selection;
  const desired = desiredConfig === undefined ? [] : [sql<boolean>`components.desired_config = ${desiredConfig}`];
  return [...desired, ...restricted(selection)];
}

/** Components with a tag that are all read off the index of tags, for each page. */
const FEW_TAGGED = 10_000;

/**
 * Ids of a page of components with tags. How many have a tag is only guessed by the planner, and a wrong guess would read the whole fleet. So
 * it is counted up to a bound: few are read off the index of tags and sorted, of many the ids are walked along until the page is full. Of the
 * two halves of the union only one runs.
 */
function pageOfTagged(
  conditions: readonly RawBuilder<boolean>[],
  afterId: string,
  limit: number,
): RawBuilder<{ id: string }> {
  const all = sql.join(conditions, sql` and `);
  return sql`
    with few as materialized (select components.id from components where ${all} limit ${FEW_TAGGED + 1}),
    amount as materialized (select count(*) > ${FEW_TAGGED} as is_large from few)
    select id from (
      (select few.id from few where not (select is_large from amount) and few.id > ${afterId} order by few.id limit ${limit})
      union all
      (select components.id from components
      where (select is_large from amount) and components.id > ${afterId} and ${all}
      order by components.id limit ${limit})
    ) as found
    order by id limit ${limit}`;
}

export function toComponent(row: ComponentRow): Component {
  return {
    id: row.id,
    state: row.state,
    desired_config: row.desired_config,
    error_count: row.error_count,
    ...(row.retry_policy === null ? {} : { retry_policy: row.retry_policy }),
    enabled: row.enabled,
    tags: row.tags,
    ...(row.boot === null ? {} : { muster: { boot: row.boot } }),
  };
}

function recordset(components: readonly Partial<Component>[]) {
  return sql`jsonb_to_recordset(${JSON.stringify(components)}::jsonb) as r(id text, desired_config text,
    error_count bigint, retry_policy bigint, enabled boolean, tags jsonb, state jsonb, muster jsonb)`;
}

function* chunksOf(components: readonly Component[]): Generator<readonly Component[]> {
  for (let start = 0; start < components.length; start += WRITE_CHUNK) {
    yield components.slice(start, start + WRITE_CHUNK);
  }
}
