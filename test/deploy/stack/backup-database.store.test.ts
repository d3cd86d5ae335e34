import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import type { SavedDatabase } from '../../../domain/backup-schema.ts';
import { loadDatabase, unknownMigrations } from '../../../store/backup/load-database.ts';
import { saveDatabase } from '../../../store/backup/save-database.ts';
import { MIGRATIONS } from '../../../store/migrations/index.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';

let origin: TestDatabase;
const emptied: pg.Client[] = [];

beforeAll(async () => {
  origin = await createTestDatabase();
});
afterAll(async () => {
  await Promise.all(emptied.map((client) => client.end()));
  await origin.close();
});

const OWN_ROLES = ['postgres', 'muster'];

interface Saved {
  database: SavedDatabase;
  pieces: [string, Buffer][];
}

async function save(during: () => Promise<void> = async () => undefined): Promise<Saved> {
  const pieces: [string, Buffer][] = [];
  const database = await saveDatabase({
    url: origin.url,
    ownRoles: OWN_ROLES,
    atInstant: during,
    take: async (table, piece) => void pieces.push([table, piece]),
  });
  return { database, pieces };
}

/** An empty database on the same server. */
async function emptyDatabase(): Promise<{ url: string; client: pg.Client }> {
  const name = `empty_${Math.random().toString(36).slice(2)}`;
  const server = new pg.Client({ connectionString: origin.url });
  await server.connect();
  await server.query(`create database ${name} template template0`);
  await server.end();
  const url = origin.url.replace(/\/[^/]+$/, `/${name}`);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  emptied.push(client);
  return { url, client };
}

async function load({ database, pieces }: Saved): Promise<{ client: pg.Client }> {
  const { url, client } = await emptyDatabase();
  const loading = await loadDatabase({ ...database, roles: [] }, { owner: url, superuser: url });
  try {
    for (const [table, piece] of pieces) await loading.take(table, piece);
    await loading.finish();
  } finally {
    await loading.close();
  }
  return { client };
}

/** Digest of the rows of every table. */
async function digests(client: pg.Client, tables: readonly string[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const table of tables) {
    const { rows } = await client.query(
      `select count(*) || ' ' || coalesce(md5(string_agg(t::text, ',' order by t::text)), '') as digest from ${table} t`,
    );
    found[table] = rows[0].digest;
  }
  return found;
}

const STRANGE = 'tab\tnewline\nback\\slash \\N \\. "quotes" ünïcödé';

async function addRows(prefix: string, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => ({
    id: `${prefix}${index}`,
    desired_config: '',
    error_count: 0,
    enabled: true,
    tags: JSON.stringify({ note: STRANGE.repeat(10) }),
    state: JSON.stringify([]),
    updated_at: new Date(),
  }));
  await origin.db.insertInto('components').values(rows).execute();
}

test('every table of another database is the same, with its counters, and nothing is recorded again', async () => {
  await addRows('a', 4_000);
  await origin.db
    .insertInto('secrets')
    .values({ name: 's', key: 'k', ciphertext: Buffer.from([0, 255, 10, 92]), updated_at: new Date(), actor: null })
    .execute();
  // Longer than a piece.
  const ciphertext = Buffer.alloc(5 * 2 ** 20, 92);
  await origin.db
    .insertInto('secrets')
    .values({ name: 'long', key: 'k', ciphertext, updated_at: new Date(), actor: null })
    .execute();
  await origin.db
    .insertInto('webhooks')
    .values({
      ...{ name: 'ops', url: 'https://hooks.test/***', sealed_url: Buffer.from([0, 1, 255]), url_revision: 2 },
      ...{ events: ['session.ended'], enabled: true, allow_private_redirects: false, actor: null },
      ...{ created_at: new Date(), updated_at: new Date() },
    })
    .execute();
  const saved = await save();
  const { client } = await load(saved);
  expect((await client.query('select sealed_url from webhooks')).rows).toEqual([
    { sealed_url: Buffer.from([0, 1, 255]) },
  ]);
  const from = new pg.Client({ connectionString: origin.url });
  await from.connect();
  emptied.push(from);
  const tables = saved.database.tables.map(({ name }) => name);
  expect(tables).toContain('audit');
  expect(await digests(client, tables)).toEqual(await digests(from, tables));
  expect(saved.pieces.filter(([table]) => table === 'secrets').length).toBeGreaterThan(1);
  const next = `select max(id) + 1 = nextval(pg_get_serial_sequence('audit', 'id')) as follows from audit`;
  expect((await client.query(next)).rows).toEqual([{ follows: true }]);
});

test('what is written meanwhile is not in it, in no table', async () => {
  const before = await origin.db.selectFrom('components').select('id').execute();
  const saved = await save(() => addRows('late', 10));
  const { client } = await load(saved);
  expect((await client.query('select 1 from components')).rowCount).toBe(before.length);
  expect((await client.query(`select 1 from audit where name like 'late%'`)).rowCount).toBe(0);
});

test('a piece that is missing is noticed', async () => {
  const saved = await save();
  saved.pieces.pop();
  await expect(load(saved)).rejects.toThrow(/has \d+ rows in place of/);
});

test('rows of an older shape fit, and the shape is brought up to now', async () => {
  const saved = await save();
  const old = Object.keys(MIGRATIONS).sort().slice(0, 18);
  const kept = saved.pieces.filter(([table]) => table === 'secrets');
  const database = {
    ...saved.database,
    migrations: old,
    tables: saved.database.tables.filter(({ name }) => name === 'secrets'),
    sequences: [],
  };
  const { client } = await load({ database, pieces: kept });
  expect((await client.query('select name from kysely_migration')).rowCount).toBe(Object.keys(MIGRATIONS).length);
  expect((await client.query('select 1 from secrets')).rowCount).toBe(kept.length);
  expect((await client.query('select id from installation')).rowCount).toBe(1);
});

test('a role of its own comes with its password and its groups', async () => {
  const admin = new pg.Client({ connectionString: origin.url });
  await admin.connect();
  emptied.push(admin);
  const names = ['backup_group', 'backup_member'].map((name) => `${name}_${Math.random().toString(36).slice(2)}`);
  const [group = '', member = ''] = names;
  await admin.query(
    `create role ${group} nologin; create role ${member} login password 'one'; grant ${group} to ${member}`,
  );
  try {
    const { database } = await save();
    const found = database.roles.filter(({ name }) => names.includes(name));
    await admin.query(`drop role ${member}; drop role ${group}`);
    const { url } = await emptyDatabase();
    const loading = await loadDatabase({ ...database, roles: found }, { owner: url, superuser: url });
    await loading.close();
    const asMember = new pg.Client({ connectionString: url.replace(/\/\/[^@]+@/, `//${member}:one@`) });
    await asMember.connect();
    emptied.push(asMember);
    expect((await asMember.query(`select pg_has_role($1, 'member') as is`, [group])).rows).toEqual([{ is: true }]);
  } finally {
    await Promise.all(emptied.splice(0).map((client) => client.end()));
    const last = new pg.Client({ connectionString: origin.url });
    await last.connect();
    await last.query(`drop role if exists ${member}; drop role if exists ${group}`);
    await last.end();
  }
});

test('migrations of a newer release are known by name', () => {
  expect(unknownMigrations({ migrations: ['0001-foundation', '9999-later'] })).toEqual(['9999-later']);
});
