import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Migrator, sql } from 'kysely';
import {
  findConfiguration,
  lockConfiguration,
  updateConfiguration,
} from '../../store/configurations/configurations.ts';
import { pageSources } from '../../store/configurations/sources.ts';
import * as foundation from '../../store/migrations/0001-foundation.ts';
import { migrate, olderShape } from '../../store/migrations/index.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

test('migrating again, from two processes at once, changes nothing', async () => {
  await Promise.all([migrate(database.db), migrate(database.db)]);
  expect(await database.db.selectFrom('options').selectAll().execute()).toEqual([]);
});

test('a database that a newer release has migrated stays as it is, and the older release goes on with it', async () => {
  const newer = await createTestDatabase();
  await sql`insert into kysely_migration (name, timestamp) values ('9998-newer', 'then'), ('9999-newest', 'then')`.execute(
    newer.db,
  );
  const shape = () => sql`select name from kysely_migration order by name`.execute(newer.db);
  const before = await shape();
  await Promise.all([migrate(newer.db), migrate(newer.db)]);
  expect(await shape()).toEqual(before);
  await newer.close();
});

test('an older database is told by the newest migration that it has had', async () => {
  const older = await createTestDatabase();
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name desc limit 3`.execute(
    older.db,
  );
  const [newest = '', before = '', has = ''] = rows.map(({ name }) => name);
  await sql`delete from kysely_migration where name in (${newest}, ${before})`.execute(older.db);
  expect(await olderShape(older.db)).toEqual({ has, needs: newest });
  expect(await olderShape(database.db)).toBeNull();
  await older.close();
});

test('the records of the first release are brought along', async () => {
  const old = await createTestDatabase();
  const { db } = old;
  await sql`drop schema public cascade`.execute(db);
  await sql`create schema public`.execute(db);
  const provider = { getMigrations: async () => ({ '0001-foundation': foundation }) };
  expect((await new Migrator({ db, provider }).migrateToLatest()).error).toBeUndefined();
  const source = (name: string) => JSON.stringify({ name, clone_url: 'u', credentials: { secret_name: `of-${name}` } });
  const record = { name: 'c', last_updated: 'x', layers: [{ source: 'one', playbook: 'p' }, { clone_url: 'u' }] };
  await sql`insert into sources (name, record, updated_at)
    values ('one', ${source('one')}, now()), ('two', ${source('two')}, now())`.execute(db);
  await sql`insert into configurations (name, record, revision, updated_at)
    values ('c', ${JSON.stringify(record)}, 41, now())`.execute(db);
  await sql`insert into components (id, desired_config, updated_at) values ('x', 'c', now())`.execute(db);
  await sql`insert into secrets (name, key, ciphertext, updated_at) values ('of-one', 'username', 'x', now())`.execute(
    db,
  );

  await migrate(db);
  const stored = await findConfiguration(db, 'c');
  expect(stored).toMatchObject({ record, revision: 41 });
  const names = async (inUse: boolean) =>
    (await pageSources(db, { inUse, afterName: '', limit: 9 })).map((one) => one.name);
  expect([await names(true), await names(false)]).toEqual([['one'], ['two']]);
  await db.transaction().execute(async (trx) => {
    const locked = await lockConfiguration(trx, 'c');
    if (locked) await updateConfiguration(trx, locked.record, new Date(), 'ada');
  });
  expect((await findConfiguration(db, 'c'))?.revision).toBeGreaterThan(41);
  expect(await db.selectFrom('secrets').select('actor').execute()).toEqual([{ actor: null }]);
  await old.close();
});
