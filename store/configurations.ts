import { type ExpressionBuilder, sql } from 'kysely';
import type { Configuration } from '../domain/configurations/schema.ts';
import type { Db } from './database.ts';
import type { Database } from './tables.ts';

export interface StoredConfiguration {
  record: Configuration;
  revision: number;
}

/** The configuration with its revision, or undefined. */
export async function findConfiguration(db: Db, name: string): Promise<StoredConfiguration | undefined> {
  return db.selectFrom('configurations').select(['record', 'revision']).where('name', '=', name).executeTakeFirst();
}

/** The existing ones of these configurations, by name. */
export async function findConfigurations(db: Db, names: readonly string[]): Promise<Map<string, Configuration>> {
  if (names.length === 0) return new Map();
  const rows = await db
    .selectFrom('configurations')
    .select(['name', 'record'])
    .where('name', '=', sql<string>`any(${names})`)
    .execute();
  return new Map(rows.map((row) => [row.name, row.record]));
}

export interface ConfigurationPage {
  /** Only what a component desires (true) or does not (false); undefined: all. */
  inUse: boolean | undefined;
  afterName: string;
  limit: number;
}

/** At most `limit` configurations after a name, by code point. */
export async function pageConfigurations(db: Db, page: ConfigurationPage): Promise<Configuration[]> {
  let query = db
    .selectFrom('configurations')
    .select('record')
    .where('name', '>', page.afterName)
    .orderBy('name')
    .limit(page.limit);
  if (page.inUse === true) query = query.where((eb) => desiredBySome(eb));
  if (page.inUse === false) query = query.where((eb) => eb.not(desiredBySome(eb)));
  return (await query.execute()).map((row) => row.record);
}

/** Creates or replaces a configuration. */
export async function saveConfiguration(db: Db, record: Configuration, now: Date): Promise<void> {
  const values = { record: JSON.stringify(record), updated_at: now, actor: null };
  await db
    .insertInto('configurations')
    .values({ name: record.name, ...values })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet({ ...values, revision: sql`configurations.revision + 1` }),
    )
    .execute();
}

/** Replaces a configuration unless it was written since `revision`; answers whether it did. */
export async function saveConfigurationIfUnchanged(
  db: Db,
  record: Configuration,
  revision: number,
  now: Date,
): Promise<boolean> {
  const result = await db
    .updateTable('configurations')
    .set({ record: JSON.stringify(record), updated_at: now, revision: revision + 1 })
    .where('name', '=', record.name)
    .where('revision', '=', revision)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Deletes a configuration that no component desires, in one statement; answers whether it did. */
export async function deleteUndesiredConfiguration(db: Db, name: string): Promise<boolean> {
  const result = await db
    .deleteFrom('configurations')
    .where('name', '=', name)
    .where((eb) => eb.not(desiredBySome(eb)))
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}

function desiredBySome(eb: ExpressionBuilder<Database, 'configurations'>) {
  return eb.exists(
    eb.selectFrom('components').select('id').whereRef('desired_config', '=', 'configurations.name').limit(1),
  );
}
