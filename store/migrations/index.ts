import { readdirSync } from 'node:fs';
import { type Kysely, type Migration, Migrator, sql } from 'kysely';
import type { Database } from '../tables.ts';

const NUMBERED = /^[0-9]{4}-[a-z0-9-]+\.ts$/;

/** Every numbered file of this folder, in order of its name, which is the name that databases know. A released migration never changes. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = await readMigrations();

async function readMigrations(): Promise<Record<string, Migration>> {
  const files = readdirSync(import.meta.dirname).filter((name) => NUMBERED.test(name));
  const migrations: Record<string, Migration> = {};
  for (const file of files.sort()) migrations[file.slice(0, -'.ts'.length)] = await import(`./${file}`);
  return migrations;
}

/**
 * Brings the database to the newest shape; safe to call from several processes at once (it takes a lock). A database that a
 * newer release has migrated is left as it is: that release widens what is there, and this one goes on with it, beside the
 * newer one or after it was rolled back.
 */
export async function migrate(db: Kysely<Database>): Promise<void> {
  const getMigrations = async () => ({ ...(await newerMigrations(db)), ...MIGRATIONS });
  const migrator = new Migrator({ db, provider: { getMigrations }, allowUnorderedMigrations: true });
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
}

/**
 * Gives an empty database the shape that these migrations make, in which rows of that time fit.
 * @throws when a name is of none that this release has
 */
export async function migrateTo(db: Kysely<Database>, names: readonly string[]): Promise<void> {
  const chosen = names.map((name) => {
    const migration = Object.hasOwn(MIGRATIONS, name) ? MIGRATIONS[name] : undefined;
    if (migration === undefined) throw new Error(`there is no migration ${name} in this release`);
    return [name, migration] as const;
  });
  const getMigrations = async () => Object.fromEntries(chosen);
  const { error } = await new Migrator({ db, provider: { getMigrations } }).migrateToLatest();
  if (error) throw error;
}

/** Returns the names of migrations of this release that the database has not had; all of them for an empty database. */
async function missingMigrations(db: Kysely<Database>): Promise<string[]> {
  const names = Object.keys(MIGRATIONS);
  const { rows } = await sql<{ there: boolean }>`select to_regclass('kysely_migration') is not null as there`.execute(
    db,
  );
  if (!rows[0]?.there) return names;
  const done = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  const had = new Set(done.rows.map(({ name }) => name));
  return names.filter((name) => !had.has(name));
}

/** Returns the newest migration that an older database has had (null: none), and the newest of this release; null where it lacks none. */
export async function olderShape(db: Kysely<Database>): Promise<{ has: string | null; needs: string } | null> {
  const missing = await missingMigrations(db);
  if (missing.length === 0) return null;
  const names = Object.keys(MIGRATIONS);
  return { has: names.findLast((name) => !missing.includes(name)) ?? null, needs: names.at(-1) ?? '' };
}

const NEVER_RUN: Migration = { up: async () => undefined };

/** What the database has of migrations that are not known here; the migrator only wants to see their names. */
async function newerMigrations(db: Kysely<Database>): Promise<Record<string, Migration>> {
  const { rows } = await sql<{ there: boolean }>`select to_regclass('kysely_migration') is not null as there`.execute(
    db,
  );
  if (!rows[0]?.there) return {};
  const done = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  const unknown = done.rows.map(({ name }) => name).filter((name) => !Object.hasOwn(MIGRATIONS, name));
  return Object.fromEntries(unknown.map((name) => [name, NEVER_RUN]));
}
