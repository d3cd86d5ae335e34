/** How many have their turn on the machine that has the images; who comes first among them is another matter. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { markImageJobCleaned, markImageJobsDeleted, moveImageJob } from '../../store/images/image-jobs.ts';
import { endImageTurn, takeImageTurn } from '../../store/images/image-turns.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { newImageJob } from './new-image-job.ts';

let database: TestDatabase;
let queue: string;
let storeId: string;
beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(() => {
  queue = randomUUID();
  storeId = randomUUID();
});
afterAll(() => database.close());

/** The ids of the jobs of a session. */
async function session(count: number, key = randomUUID(), shell = 's'): Promise<string[]> {
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) ids.push((await newImageJob(database.db, { storeId, key, shell })).id);
  return ids;
}

/** Asks when nobody else has a place in line any more. */
const turn = (id: string, open: number, status: 'fetching_image' | 'packaging_artifacts' = 'fetching_image') => {
  const times = { now: new Date(), lapsed: new Date(Date.now() + 3_600_000) };
  const limits = { working: 1, open };
  return database.db.transaction().execute((trx) => takeImageTurn(trx, { id, queue, status, limits, ...times }));
};

/** Opens the environments of jobs that get their turn, one after the other; answers how many did. */
async function opened(ids: readonly string[], open: number): Promise<number> {
  let count = 0;
  for (const id of ids) {
    if ((await turn(id, open)) !== null) continue;
    await endImageTurn(database.db, id);
    await moveImageJob(database.db, id, 'waiting_on_user');
    count += 1;
  }
  return count;
}

async function finished(ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await moveImageJob(database.db, id, 'error');
    await markImageJobCleaned(database.db, id, new Date());
  }
}

test('a session on more images than may be open gets them all open', async () => {
  expect(await opened(await session(11), 10)).toBe(11);
});

test('two sessions do not keep each other from getting open', async () => {
  const [a, b, c] = [await session(6), await session(6), await session(1)];
  expect(await opened(a.slice(0, 1), 10)).toBe(1);
  expect(await opened(b.slice(0, 1), 10)).toBe(1);
  expect(await turn(c[0] ?? '', 10)).toMatchObject({ working: 0, open: 12 });
  expect(await opened([...a.slice(1), ...b.slice(1), ...c], 10)).toBe(10);
  await finished(a);
  expect(await opened(c, 10)).toBe(1);
});

test('what a session that has begun is still to open counts, so no more begin than have room', async () => {
  const [a, b] = [await session(2), await session(2)];
  expect(await opened(a.slice(0, 1), 2)).toBe(1);
  expect(await turn(b[0] ?? '', 2)).toMatchObject({ working: 0, open: 2 });
  await markImageJobsDeleted(database.db, { id: a[1] }, new Date());
  expect(await opened(b.slice(0, 1), 2)).toBe(1);
});

test('one that has begun begins again, though more are open than may be', async () => {
  const [first = '', ...rest] = await session(3);
  expect(await turn(first, 1)).toBeNull();
  await endImageTurn(database.db, first);
  expect(await opened(rest, 1)).toBe(2);
  expect(await turn(first, 1)).toBeNull();
});

test('jobs of one key with shells of other names are no set, nor those of a session that is over', async () => {
  const key = randomUUID();
  const [one, two] = [await session(1, key, 'one'), await session(1, key, 'two')];
  expect(await opened([...one, ...two], 1)).toBe(1);
  const late = await session(1, key, 'one');
  await moveImageJob(database.db, one[0] ?? '', 'error');
  expect(await turn(late[0] ?? '', 1)).toMatchObject({ working: 0, open: 1 });
});

test('one works at a time, whatever it belongs to', async () => {
  const [first = '', second = ''] = await session(2);
  expect(await turn(first, 10)).toBeNull();
  expect(await turn(second, 10)).toMatchObject({ working: 1, open: null });
  await moveImageJob(database.db, first, 'waiting_on_user');
  expect(await turn(first, 10, 'packaging_artifacts')).toBeNull();
  expect(await turn(second, 10)).toMatchObject({ working: 1 });
});
