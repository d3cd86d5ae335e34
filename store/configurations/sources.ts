import { sql } from 'kysely';
import type { Source } from '../../domain/configurations/schema.ts';
import type { Db } from '../connection/database.ts';
import { findNamed, type NamedPage, pageNamed } from './named-records.ts';

/** The source of this name, or undefined. */
export async function findSource(db: Db, name: string): Promise<Source | undefined> {
  const row = await db.selectFrom('sources').select('record').where('name', '=', name).executeTakeFirst();
  return row?.record;
}

/** The existing ones of these sources, by name. */
export async function findSources(db: Db, names: readonly string[]): Promise<Map<string, Source>> {
  return findNamed(db, 'sources', names);
}

/** Names of the sources whose credentials are this secret. */
export async function listSourcesOfSecret(db: Db, secretName: string): Promise<string[]> {
  const rows = await db
    .selectFrom('sources')
    .select('name')
    .where(sql<boolean>`record -> 'credentials' ->> 'secret_name' = ${secretName}`)
    .orderBy('name')
    .execute();
  return rows.map(({ name }) => name);
}

/** The clone addresses of all sources. */
export async function listSourceUrls(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('sources')
    .select(sql<string | null>`record ->> 'clone_url'`.as('url'))
    .distinct()
    .execute();
  return rows.flatMap(({ url }) => url ?? []);
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

/** Of one source in a list: whether something names it. All names are gathered once, not asked for source by source. */
const NAMED = sql<boolean>`(name in (select jsonb_array_elements_text(source_names) from configurations)
  or name in (select record ->> 'additional_inventory_source' from options
    where record ->> 'additional_inventory_source' is not null))`;

/** At most `limit` sources after a name, by code point. */
export async function pageSources(db: Db, page: NamedPage): Promise<Source[]> {
  return pageNamed(db, 'sources', page, NAMED);
}

/** Whether a layer or an additional inventory of a configuration, or the option, names the source (cfs-api 12). */
export async function isSourceInUse(db: Db, name: string): Promise<boolean> {
  const { rows } = await sql<{ used: boolean }>`
    select exists (select from configurations where source_names ? ${name})
      or exists (select from options where record ->> 'additional_inventory_source' = ${name}) as used`.execute(db);
  return rows[0]?.used ?? false;
}

/** Inserts a source; answers false when one of that name exists. */
export async function insertSource(db: Db, record: Source, now: Date, actor: string | null): Promise<boolean> {
  const result = await db
    .insertInto('sources')
    .values({ name: record.name, record: JSON.stringify(record), updated_at: now, actor })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .executeTakeFirst();
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

export async function updateSource(db: Db, record: Source, now: Date, actor: string | null): Promise<void> {
  await db
    .updateTable('sources')
    .set({ record: JSON.stringify(record), updated_at: now, actor })
    .where('name', '=', record.name)
    .execute();
}

export async function deleteSource(db: Db, name: string): Promise<void> {
  await db.deleteFrom('sources').where('name', '=', name).execute();
}
