import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { migrate } from '../../store/migrations/index.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

test('migrating again, from two processes at once, changes nothing', async () => {
  await Promise.all([migrate(database.db), migrate(database.db)]);
  expect(await database.db.selectFrom('options').selectAll().execute()).toEqual([]);
});
