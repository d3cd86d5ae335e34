import { sql } from 'kysely';
import type { Configuration } from '../../domain/configurations/schema.ts';
import type { Version } from '../../domain/configurations/version-tag.ts';
import type { Db } from '../connection/database.ts';
import { findNamed, type NamedPage, pageNamed } from './named-records.ts';

export interface StoredConfiguration extends Version {
  record: Configuration;
}

const STORED = ['record', 'revision', 'updated_at as updatedAt', 'actor'] as const;

/** Of one configuration: whether a component desires it. */
const DESIRED = sql<boolean>`exists (select from components where desired_config = configurations.name limit 1)`;

/** Of no other record, also not of one of the same name that was deleted. */
const NEXT_REVISION = sql<number>`nextval('configuration_revisions')`;

/** The configuration with its version, or undefined. */
export async function findConfiguration(db: Db, name: string): Promise<StoredConfiguration | undefined> {
  return db.selectFrom('configurations').select(STORED).where('name', '=', name).executeTakeFirst();
}

/** The existing ones of these configurations, by name. */
export async function findConfigurations(db: Db, names: readonly string[]): Promise<Map<string, Configuration>> {
  return findNamed(db, 'configurations', names);
}

/** The commit that the newest configuration with a layer of this branch has of it; null where none has. */
export async function findCommitOfBranch(
  db: Db,
  { url, sourceName, ref }: { url: string; sourceName: string | null; ref: string },
): Promise<string | null> {
  const { rows } = await sql<{ commit: string }>`
    select layer ->> 'commit' as commit from configurations
    cross join lateral jsonb_array_elements(record -> 'layers') as listed(layer)
    where layer ->> 'branch' = ${ref} and layer ->> 'commit' is not null
      and (layer ->> 'clone_url' = ${url} or layer ->> 'source' = ${sourceName})
    order by updated_at desc limit 1`.execute(db);
  return rows[0]?.commit ?? null;
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
export async function lockConfiguration(trx: Db, name: string): Promise<StoredConfiguration | undefined> {
  return trx.selectFrom('configurations').select(STORED).where('name', '=', name).forNoKeyUpdate().executeTakeFirst();
}

/** Keeps the configuration as it is until the transaction ends; others may do so too. */
export async function shareConfiguration(trx: Db, name: string): Promise<void> {
  await trx.selectFrom('configurations').select('name').where('name', '=', name).forShare().execute();
}

/**
 * The same as `lockConfiguration`, and waits for the transactions of components that begin to desire it; later ones wait for this one. What a
 * statement after this reads is all that came before.
 */
export async function lockConfigurationAgainstDesire(trx: Db, name: string): Promise<StoredConfiguration | undefined> {
  return trx.selectFrom('configurations').select(STORED).where('name', '=', name).forUpdate().executeTakeFirst();
}

/** Inserts a configuration. Returns its version, or undefined when one of that name exists. */
export async function insertConfiguration(
  trx: Db,
  record: Configuration,
  now: Date,
  actor: string | null,
): Promise<StoredConfiguration | undefined> {
  const written = await trx
    .insertInto('configurations')
    .values({ name: record.name, record: JSON.stringify(record), updated_at: now, actor })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returning('revision')
    .executeTakeFirst();
  return written && { record, revision: written.revision, updatedAt: now, actor };
}

/** Replaces a configuration that the transaction has locked. Returns its new version. */
export async function updateConfiguration(
  trx: Db,
  record: Configuration,
  now: Date,
  actor: string | null,
): Promise<StoredConfiguration> {
  const { revision } = await trx
    .updateTable('configurations')
    .set({ record: JSON.stringify(record), updated_at: now, actor, revision: NEXT_REVISION })
    .where('name', '=', record.name)
    .returning('revision')
    .executeTakeFirstOrThrow();
  return { record, revision, updatedAt: now, actor };
}

/** Replaces a configuration unless it was written since `revision`. Returns its new version, or undefined where nothing was done. */
export async function updateConfigurationIfUnchanged(
  db: Db,
  record: Configuration,
  revision: number,
  now: Date,
  actor: string | null,
): Promise<StoredConfiguration | undefined> {
  const written = await db
    .updateTable('configurations')
    .set({ record: JSON.stringify(record), updated_at: now, actor, revision: NEXT_REVISION })
    .where('name', '=', record.name)
    .where('revision', '=', revision)
    .returning('revision')
    .executeTakeFirst();
  return written && { record, revision: written.revision, updatedAt: now, actor };
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
