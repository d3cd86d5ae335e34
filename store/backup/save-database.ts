/** The whole database as one instant of it, for a backup. */
import pg from 'pg';
import type { SavedDatabase, SavedRole, SavedSequence, SavedTable } from '../../domain/backup-schema.ts';
import { KEY_LOCK } from '../secrets/key-lock.ts';
import { copyOut, type StoredTable } from './copy.ts';

/** What the migrator keeps for itself: a restored database has it by its own migrations. */
const MIGRATORS = ['kysely_migration', 'kysely_migration_lock'];

export interface SaveOptions {
  /** Address with the rights of a superuser. */
  url: string;
  /** Roles that the stack makes itself. */
  ownRoles: readonly string[];
  /** Called once when the instant is fixed and no key is being changed: what belongs to the same instant is read here. */
  atInstant(): Promise<void>;
  /** Takes rows of a table, in COPY's text form. */
  take(table: string, piece: Buffer): Promise<void>;
}

/** Reads the database while it is worked on: nobody waits for it, and every table is of the same instant. */
export async function saveDatabase({ url, ownRoles, atInstant, take }: SaveOptions): Promise<SavedDatabase> {
  const client = new pg.Client({ connectionString: url, application_name: 'muster-backup', keepAlive: true });
  const broken = new Promise<never>((_, reject) => client.once('error', reject));
  broken.catch(() => undefined);
  await client.connect();
  try {
    return await Promise.race([broken, save(client, ownRoles, atInstant, take)]);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function save(
  client: pg.Client,
  ownRoles: readonly string[],
  atInstant: SaveOptions['atInstant'],
  take: SaveOptions['take'],
): Promise<SavedDatabase> {
  // The keys' files and the values that they open are of one instant.
  await client.query('select pg_advisory_lock_shared($1)', [KEY_LOCK]);
  await client.query('begin isolation level repeatable read read only');
  const migrations = await client.query<{ name: string }>('select name from kysely_migration order by name');
  await atInstant();
  await client.query('select pg_advisory_unlock_shared($1)', [KEY_LOCK]);
  const server = await client.query<{ server_version: string }>('show server_version');
  const tables: SavedTable[] = [];
  for (const table of await storedTables(client)) {
    tables.push({ ...table, rows: await copyOut(client, table, (piece) => take(table.name, piece)) });
  }
  const saved = {
    server: server.rows[0]?.server_version ?? '',
    migrations: migrations.rows.map(({ name }) => name),
    tables,
    sequences: await sequences(client),
    roles: await roles(client, ownRoles),
  };
  await client.query('commit');
  return saved;
}

async function storedTables(client: pg.Client): Promise<StoredTable[]> {
  const { rows } = await client.query<{ name: string; columns: string[] }>(
    `select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
       from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> all($1)
        and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      group by c.relname order by c.relname`,
    [MIGRATORS],
  );
  return rows;
}

/** Read after the instant is fixed: a counter may be ahead of the rows, never behind. */
async function sequences(client: pg.Client): Promise<SavedSequence[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'S' order by relname`,
  );
  const saved: SavedSequence[] = [];
  for (const { name } of rows) {
    const found = await client.query<{ last: string; called: boolean }>(
      `select last_value::text as last, is_called as called from ${client.escapeIdentifier(name)}`,
    );
    if (found.rows[0]) saved.push({ name, ...found.rows[0] });
  }
  return saved;
}

async function roles(client: pg.Client, own: readonly string[]): Promise<SavedRole[]> {
  const { rows } = await client.query<SavedRole>(
    `select a.rolname as name, a.rolcanlogin as login, a.rolinherit as inherit, a.rolpassword as password,
            array(select g.rolname::text from pg_auth_members m join pg_authid g on g.oid = m.roleid
                   where m.member = a.oid order by 1) as "memberOf"
       from pg_authid a where a.rolname !~ '^pg_' and a.rolname <> all($1) order by a.rolname`,
    [own],
  );
  return rows;
}
