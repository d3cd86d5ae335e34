/** Fills an empty database from a backup. */
import pg from 'pg';
import type { SavedDatabase, SavedRole } from '../../domain/backup-schema.ts';
import { openDatabase } from '../connection/database.ts';
import { MIGRATIONS, migrate, migrateTo } from '../migrations/index.ts';
import { copyIn } from './copy.ts';

/** Names of migrations in a backup that this release does not have: a newer one made it. */
export function unknownMigrations({ migrations }: Pick<SavedDatabase, 'migrations'>): string[] {
  return migrations.filter((name) => !Object.hasOwn(MIGRATIONS, name));
}

export interface DatabaseLoad {
  /** Takes rows of a table in COPY's text form. */
  take(table: string, piece: Buffer): Promise<void>;
  /** Checks that all rows came, sets the counters, and brings the database to this release's shape. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Makes roles and tables as they were when the backup was taken, empty; the rows follow.
 * @param saved what the backup says of its database
 * @param urls of the database: of its owner, and with the rights of a superuser
 */
export async function loadDatabase(
  saved: SavedDatabase,
  { owner, superuser }: { owner: string; superuser: string },
): Promise<DatabaseLoad> {
  const shape = openDatabase({ url: owner, name: 'muster-restore', poolSize: 2 });
  const client = new pg.Client({ connectionString: superuser, application_name: 'muster-restore' });
  client.on('error', () => undefined);
  const close = async () => {
    await client.end().catch(() => undefined);
    await shape.destroy();
  };
  const rows = new Map<string, number>();
  try {
    await client.connect();
    await makeRoles(client, saved.roles);
    await migrateTo(shape, saved.migrations);
    // Rows are as they were: no trigger records them again, and tables come in any order.
    await client.query('set session_replication_role = replica');
    const names = saved.tables.map(({ name }) => client.escapeIdentifier(name));
    if (names.length > 0) await client.query(`truncate ${names.join(', ')}`);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    take: async (name, piece) => {
      const table = saved.tables.find((candidate) => candidate.name === name);
      if (table === undefined) throw new Error(`the backup has rows of ${name} and no such table`);
      rows.set(name, (rows.get(name) ?? 0) + (await copyIn(client, table, piece)));
    },
    finish: async () => {
      const wrong = saved.tables.find((table) => table.rows !== (rows.get(table.name) ?? 0));
      if (wrong) {
        throw new Error(`table ${wrong.name} has ${rows.get(wrong.name) ?? 0} rows in place of ${wrong.rows}`);
      }
      for (const { name, last, called } of saved.sequences) {
        await client.query('select setval($1::regclass, $2::bigint, $3)', [
          `public.${client.escapeIdentifier(name)}`,
          last,
          called,
        ]);
      }
      await migrate(shape);
      await client.query('analyze');
    },
    close,
  };
}

async function makeRoles(client: pg.Client, roles: readonly SavedRole[]): Promise<void> {
  // A statement that fails would be logged with the password in it.
  await client.query('set log_min_error_statement = panic');
  for (const { name, login, inherit, password } of roles) {
    const options = [login ? 'login' : 'nologin', inherit ? 'inherit' : 'noinherit'];
    if (password !== null) options.push(`password ${client.escapeLiteral(password)}`);
    await client.query(`create role ${client.escapeIdentifier(name)} ${options.join(' ')}`);
  }
  for (const { name, memberOf } of roles) {
    for (const group of memberOf) {
      await client.query(`grant ${client.escapeIdentifier(group)} to ${client.escapeIdentifier(name)}`);
    }
  }
}
