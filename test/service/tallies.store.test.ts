import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { BOUNDS, histogramOf } from '../../domain/service/tallies.ts';
import { addDuration, countOne, readTallies } from '../../store/connection/tallies.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

test('counts add up, also from many at once', async () => {
  const { db } = database;
  await Promise.all(Array.from({ length: 40 }, (_, n) => countOne(db, 'batches_ended', n % 4 === 0 ? 'a' : 'b')));
  const counted = (await readTallies(db)).filter(({ name }) => name === 'batches_ended');
  expect(counted.map(({ label, count }) => [label, count])).toEqual([
    ['a', 10],
    ['b', 30],
  ]);
});

test('a duration lands in the bucket of the first bound that it does not exceed', async () => {
  const { db } = database;
  const seconds = [-5, 0, 0.1, 0.100001, 0.25, 1, 1.5, 14_400, 14_401, 1e9];
  for (const value of seconds) await addDuration(db, 'session_work', value);
  const rows = (await readTallies(db)).filter(({ name }) => name === 'session_work');
  const { cumulative, count, sum } = histogramOf(rows);
  expect(cumulative).toEqual(BOUNDS.map((bound) => seconds.filter((value) => value <= bound).length));
  expect(count).toBe(seconds.length);
  expect(sum).toBeCloseTo(seconds.slice(1).reduce((all, value) => all + value, 0));
});
