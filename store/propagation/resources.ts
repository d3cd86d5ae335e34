/** Resources, and what is committed of them. */
import { type Insertable, type RawBuilder, type Selectable, sql } from 'kysely';
import type { InputKind } from '../../domain/propagation/input-kind.ts';
import type { ResourceState } from '../../domain/propagation/item-state.ts';
import type { TagExpression } from '../../domain/propagation/tags.ts';
import type { Db } from '../connection/database.ts';
import type { CommittedTable, ResourcesTable } from './tables.ts';

export type ResourceRow = Selectable<ResourcesTable>;
export type CommittedRow = Selectable<CommittedTable>;

/** Inserts a resource. Returns null where there is one of this name. */
export async function insertResource(
  trx: Db,
  row: Omit<Insertable<ResourcesTable>, 'marker'>,
): Promise<ResourceRow | null> {
  const inserted = await trx
    .insertInto('propagation_resources')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  return inserted ?? null;
}

export async function findResource(db: Db, name: string): Promise<ResourceRow | null> {
  const query = db.selectFrom('propagation_resources').selectAll().where('name', '=', name);
  return (await query.executeTakeFirst()) ?? null;
}

/** Returns the resources of these names that are there. */
export async function findResources(db: Db, names: readonly string[]): Promise<ResourceRow[]> {
  if (names.length === 0) return [];
  return db
    .selectFrom('propagation_resources')
    .selectAll()
    .where('name', '=', sql<string>`any(${names}::text[])`)
    .orderBy('name')
    .execute();
}

export interface OwnValue {
  resource: string;
  input: string;
  value: unknown;
  kind: InputKind;
}

/** Returns the own values of single inputs. Inputs and resources that are not there are left out. */
export async function findOwnValues(
  db: Db,
  places: readonly { resource: string; input: string }[],
): Promise<OwnValue[]> {
  if (places.length === 0) return [];
  const { rows } = await sql<OwnValue>`
    select r.name as resource, p.input, r.inputs -> p.input as value, r.meta_inputs -> p.input ->> 'kind' as kind
    from unnest(${places.map(({ resource }) => resource)}::text[], ${places.map(({ input }) => input)}::text[]) as p(name, input)
    join propagation_resources r on r.name = p.name
    where r.meta_inputs ? p.input`.execute(db);
  return rows;
}

/** Returns the resources that are a place themselves: whose own location or transport is one of these, and that have an input of this name. */
export async function findPlaces(
  db: Db,
  place: 'location_id' | 'transports_id',
  ids: readonly string[],
  having: string,
): Promise<{ id: string; name: string }[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<{ id: string; name: string }>`
    select r.inputs ->> ${sql.lit(place)} as id, r.name from propagation_resources r
    where r.inputs ->> ${sql.lit(place)} = any(${ids}::text[]) and r.meta_inputs ? ${having}
    order by r.name`.execute(db);
  return rows;
}

/** Returns the resource, locked against every other writer until the transaction ends. */
export async function lockResource(trx: Db, name: string): Promise<ResourceRow | null> {
  const query = trx.selectFrom('propagation_resources').selectAll().where('name', '=', name).forUpdate();
  return (await query.executeTakeFirst()) ?? null;
}

export interface ResourceFilter {
  tags?: readonly TagExpression[] | undefined;
  state?: ResourceState | undefined;
  prefix?: string | undefined;
}

/** Returns at most `limit` resources after a name that meet every condition. */
export async function listResources(
  db: Db,
  { tags, state, prefix }: ResourceFilter,
  after: string,
  limit: number,
): Promise<ResourceRow[]> {
  return db
    .selectFrom('propagation_resources')
    .selectAll()
    .where('name', '>', after)
    .$if(state !== undefined, (query) => query.where('state', '=', state ?? 'created'))
    .$if(prefix !== undefined, (query) => query.where(sql<boolean>`starts_with(name, ${prefix ?? ''})`))
    .$if(tags !== undefined, (query) => query.where(anyOf(tags ?? [])))
    .orderBy('name')
    .limit(limit)
    .execute();
}

/** Returns the names of all resources that match one of these expressions. */
export async function listNamesByTags(db: Db, tags: readonly TagExpression[]): Promise<string[]> {
  const query = db.selectFrom('propagation_resources').select('name').where(anyOf(tags)).orderBy('name');
  return (await query.execute()).map(({ name }) => name);
}

function anyOf(expressions: readonly TagExpression[]): RawBuilder<boolean> {
  if (expressions.length === 0) return sql<boolean>`false`;
  return sql<boolean>`(${sql.join(expressions.map(conditionOf), sql` or `)})`;
}

/** The condition of an expression over column `tags`, whose tags are all `name=value`. */
function conditionOf(expression: TagExpression): RawBuilder<boolean> {
  if ('any' in expression) return anyOf(expression.any);
  if ('all' in expression) return sql<boolean>`(${sql.join(expression.all.map(conditionOf), sql` and `)})`;
  const { key, value } = expression;
  if (value !== null) return sql<boolean>`tags @> array[${`${key}=${value}`}]::text[]`;
  return sql<boolean>`exists (select from unnest(tags) as t(tag) where starts_with(t.tag, ${`${key}=`}))`;
}

export interface ResourceChange {
  inputs?: Record<string, unknown>;
  tags?: string[];
  state?: ResourceState;
  state_before?: ResourceState | null;
}

/** Changes a resource that is there. */
export async function updateResource(
  trx: Db,
  name: string,
  { inputs, ...change }: ResourceChange,
  now: Date,
  actor: string | null,
): Promise<void> {
  await trx
    .updateTable('propagation_resources')
    .set({
      ...change,
      ...(inputs === undefined ? {} : { inputs: JSON.stringify(inputs) }),
      marker: sql<never>`nextval('propagation_marker')`,
      updated_at: now,
      actor,
    })
    .where('name', '=', name)
    .execute();
}

/** Sets the state of several resources, each to its own. */
export async function updateStates(trx: Db, states: ReadonlyMap<string, ResourceState>, now: Date): Promise<void> {
  if (states.size === 0) return;
  await sql`
    update propagation_resources as r set state = s.state, marker = nextval('propagation_marker'), updated_at = ${now}
    from unnest(${[...states.keys()]}::text[], ${[...states.values()]}::text[]) as s(name, state)
    where r.name = s.name and r.state <> s.state`.execute(trx);
}

/** Removes a resource to which no connection leads any more. */
export async function deleteResource(trx: Db, name: string): Promise<void> {
  await trx.deleteFrom('propagation_resources').where('name', '=', name).execute();
}

/** Returns the committed records of these resources. */
export async function findCommitted(db: Db, names: readonly string[]): Promise<Map<string, CommittedRow>> {
  if (names.length === 0) return new Map();
  const rows = await db
    .selectFrom('propagation_committed')
    .selectAll()
    .where('resource', '=', sql<string>`any(${names}::text[])`)
    .execute();
  return new Map(rows.map((row) => [row.resource, row]));
}

/** Notes what a machine is believed to have. */
export async function putCommitted(trx: Db, row: Insertable<CommittedTable>): Promise<void> {
  await trx
    .insertInto('propagation_committed')
    .values(row)
    .onConflict((conflict) => conflict.column('resource').doUpdateSet(row))
    .execute();
}

/** Notes that a resource is gone from its machine. */
export async function markCommittedRemoved(trx: Db, resource: string, now: Date): Promise<void> {
  await trx
    .updateTable('propagation_committed')
    .set({ state: 'removed', updated_at: now })
    .where('resource', '=', resource)
    .execute();
}
