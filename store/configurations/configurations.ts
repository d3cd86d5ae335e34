import { sql } from 'kysely';
import type { Configuration } from '../../domain/configurations/schema.ts';
import type { Db } from '../connection/database.ts';
import { findNamed, type NamedPage, pageNamed } from './named-records.ts';

export interface StoredConfiguration {
  record: Configuration;
  revision: number;
}

/** Of one configuration: whether a component desires it. */
const DESIRED = sql<boolean>`exists (select from components where desired_config = configurations.name limit 1)`;

/** Of no other record, also not of one of the same name that was deleted. */
const NEXT_REVISION = sql<number>`nextval('configuration_revisions')`;

/** The configuration with its revision, or undefined. */
export async function findConfiguration(db: Db, name: string): Promise<StoredConfiguration | undefined> {
  return db.selectFrom('configurations').select(['record', 'revision']).where('name', '=', name).executeTakeFirst();
}

/** The existing ones of these configurations, by name. */
export async function findConfigurations(db: Db, names: readonly string[]): Promise<Map<string, Configuration>> {
  return findNamed(db, 'configurations', names);
}

export interface ConfigurationPage extends NamedPage {
  /** Only those of this tenant; null: all. */
  tenant: string | null;
}

/** At most `limit` configurations after a name, by code point. */
export async function pageConfigurations(db: Db, page: ConfigurationPage): Promise<Configuration[]> {
  const own = sql<boolean>`record ->> 'tenant_name' = ${page.tenant}`;
  return pageNamed(db, 'configurations', page, DESIRED, page.tenant === null ? [] : [own]);
}

/** The configuration, against every other write until the transaction ends; components may still begin to desire it. */
export async function lockConfiguration(trx: Db, name: string): Promise<Configuration | undefined> {
  const row = await trx
    .selectFrom('configurations')
    .select('record')
    .where('name', '=', name)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row?.record;
}

/** Keeps the configuration as it is until the transaction ends; others may do so too. */
export async function shareConfiguration(trx: Db, name: string): Promise<void> {
  await trx.selectFrom('configurations').select('name').where('name', '=', name).forShare().execute();
}

/**
 * The same as `lockConfiguration`, and waits for the transactions of components that begin to desire it; later ones wait for this one. What a
 * statement after this reads is all that came before.
 */
export async function lockConfigurationAgainstDesire(trx: Db, name: string): Promise<Configuration | undefined> {
  const row = await trx
    .selectFrom('configurations')
    .select('record')
    .where('name', '=', name)
    .forUpdate()
    .executeTakeFirst();
  return row?.record;
}

/** Inserts a configuration; answers false when one of that name exists. */
export async function insertConfiguration(trx: Db, record: Configuration, now: Date, actor: string | null) {
  const result = await trx
    .insertInto('configurations')
    .values({ name: record.name, record: JSON.stringify(record), updated_at: now, actor })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .executeTakeFirst();
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** Replaces a configuration that the transaction has locked. */
export async function updateConfiguration(trx: Db, record: Configuration, now: Date, actor: string | null) {
  await trx
    .updateTable('configurations')
    .set({ record: JSON.stringify(record), updated_at: now, actor, revision: NEXT_REVISION })
    .where('name', '=', record.name)
    .execute();
}

/** Replaces a configuration unless it was written since `revision`; answers whether it did. */
export async function updateConfigurationIfUnchanged(
  db: Db,
  record: Configuration,
  revision: number,
  now: Date,
  actor: string | null,
): Promise<boolean> {
  const result = await db
    .updateTable('configurations')
    .set({ record: JSON.stringify(record), updated_at: now, actor, revision: NEXT_REVISION })
    .where('name', '=', record.name)
    .where('revision', '=', revision)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Whether a component desires the configuration. */
export async function isDesired(db: Db, name: string): Promise<boolean> {
  const row = await db
    .selectFrom('components')
    .select('id')
    .where('desired_config', '=', name)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export async function deleteConfiguration(trx: Db, name: string): Promise<void> {
  await trx.deleteFrom('configurations').where('name', '=', name).execute();
}
