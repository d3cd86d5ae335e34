/** All components for an inventory: pages of one moment, of which at most two are read. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { eachInventoryPage } from '../../store/components/inventory-components.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';

const COUNT = 20_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await sql`insert into components (id, tags, updated_at)
    select 'n' || number, jsonb_build_object('rack', (number / 100)::text), now() from generate_series(1, ${COUNT}) as number`.execute(
    database.db,
  );
});
afterAll(() => database.close());

test('come in the order of ids, no page is larger than asked for, and all are of one moment', async () => {
  const ids: string[] = [];
  const sizes: number[] = [];
  await eachInventoryPage(database.db, 3_000, async (page) => {
    if (ids.length === 0) {
      await sql`insert into components (id, updated_at) values ('zz', now())`.execute(database.db);
      await sql`delete from components where id = 'n9999'`.execute(database.db);
    }
    sizes.push(page.length);
    ids.push(...page.map(({ id }) => id));
    expect(page[0]?.tags).toEqual({ rack: expect.any(String) });
  });
  expect(sizes).toEqual([3_000, 3_000, 3_000, 3_000, 3_000, 3_000, 2_000]);
  expect(ids).toEqual([...ids].sort());
  expect(ids.includes('n9999')).toBe(true);
  expect(ids.includes('zz')).toBe(false);
});

test('no more is read than the page that follows, while a page is worked on', async () => {
  let asked = 0;
  const db = database.db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      asked += result.rows.length;
      return result;
    },
  });
  let taken = 0;
  await eachInventoryPage(db, 1_000, async (page) => {
    expect(asked - taken).toBeLessThanOrEqual(2_000);
    await sql`select pg_sleep(0.01)`.execute(database.db);
    expect(asked - taken).toBeLessThanOrEqual(2_000);
    taken += page.length;
  });
  expect(taken).toBe(COUNT);
});

test('a page that fails ends the reading, and the connection is good for others', async () => {
  for (let turn = 0; turn < 12; turn += 1) {
    const failed = eachInventoryPage(database.db, 500, async () => {
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
  }
  expect((await sql`select 1 as one`.execute(database.db)).rows).toEqual([{ one: 1 }]);
});

test('a fleet without components has no page', async () => {
  let pages = 0;
  await sql`delete from components`.execute(database.db);
  await eachInventoryPage(database.db, 500, async () => {
    pages += 1;
  });
  expect(pages).toBe(0);
});
