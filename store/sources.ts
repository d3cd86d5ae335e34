import { type RawBuilder, sql } from 'kysely';
import type { Source } from '../domain/configurations/schema.ts';
import type { Db } from './database.ts';

/** The source of this name, or undefined. */
export async function findSource(db: Db, name: string): Promise<Source | undefined> {
  const row = await db.selectFrom('sources').select('record').where('name', '=', name).executeTakeFirst();
  return row?.record;
}

/** The existing ones of these sources, by name. */
export async function findSources(db: Db, names: readonly string[]): Promise<Map<string, Source>> {
  if (names.length === 0) return new Map();
  const rows = await db
    .selectFrom('sources')
    .select(['name', 'record'])
    .where('name', '=', sql<string>`any(${names})`)
    .execute();
  return new Map(rows.map((row) => [row.name, row.record]));
}

/** Which of these sources exist; they cannot be deleted before the transaction ends. */
export async function holdSources(trx: Db, names: readonly string[]): Promise<Set<string>> {
  if (names.length === 0) return new Set();
  const rows = await trx
    .selectFrom('sources')
    .select('name')
    .where('name', '=', sql<string>`any(${names})`)
    .orderBy('name')
    .forShare()
    .execute();
  return new Set(rows.map((row) => row.name));
}

/** The source, locked against every other writer until the transaction ends. */
export async function lockSource(trx: Db, name: string): Promise<Source | undefined> {
  const row = await trx.selectFrom('sources').select('record').where('name', '=', name).forUpdate().executeTakeFirst();
  return row?.record;
}

export interface SourcePage {
  /** Only what a configuration or the options name (true) or do not (false); undefined: all. */
  inUse: boolean | undefined;
  afterName: string;
  limit: number;
}

/** At most `limit` sources after a name, by code point. */
export async function pageSources(db: Db, page: SourcePage): Promise<Source[]> {
  let query = db
    .selectFrom('sources')
    .select('record')
    .where('name', '>', page.afterName)
    .orderBy('name')
    .limit(page.limit);
  if (page.inUse === true) query = query.where('name', 'in', namesInUse());
  if (page.inUse === false) query = query.where('name', 'not in', namesInUse());
  return (await query.execute()).map((row) => row.record);
}

/** Whether a layer or an additional inventory of a configuration, or the option, names the source (cfs-api 12). */
export async function isSourceInUse(db: Db, name: string): Promise<boolean> {
  const result = await sql<{ used: boolean }>`select ${name} in ${namesInUse()} as used`.execute(db);
  return result.rows[0]?.used ?? false;
}

/** Inserts a source; answers false when one of that name exists. */
export async function insertSource(db: Db, record: Source, now: Date): Promise<boolean> {
  const result = await db
    .insertInto('sources')
    .values({ name: record.name, record: JSON.stringify(record), updated_at: now, actor: null })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .executeTakeFirst();
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

export async function updateSource(db: Db, record: Source, now: Date): Promise<void> {
  await db
    .updateTable('sources')
    .set({ record: JSON.stringify(record), updated_at: now })
    .where('name', '=', record.name)
    .execute();
}

export async function deleteSource(db: Db, name: string): Promise<void> {
  await db.deleteFrom('sources').where('name', '=', name).execute();
}

/** Whether some source keeps its credentials under this name. */
export async function isSecretOfSource(db: Db, secretName: string): Promise<boolean> {
  const row = await db
    .selectFrom('sources')
    .select('name')
    .where(sql<boolean>`record #>> '{credentials,secret_name}' = ${secretName}`)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

function namesInUse(): RawBuilder<string> {
  return sql<string>`(
    select layer ->> 'source' from configurations, jsonb_array_elements(record -> 'layers') layer
      where layer ->> 'source' is not null
    union select record #>> '{additional_inventory,source}' from configurations
      where record #>> '{additional_inventory,source}' is not null
    union select record ->> 'additional_inventory_source' from options
      where record ->> 'additional_inventory_source' is not null)`;
}
