/** Who of the jobs that wait for their turn comes first: the one that was made first, unless it cannot go or nobody asks for it. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { takeImageRunTurn } from '../../control/images/run-image-job.ts';
import { markImageJobsDeleted, moveImageJob, noteImageWorker } from '../../store/images/image-jobs.ts';
import { endImageTurn } from '../../store/images/image-turns.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { newImageJob } from './new-image-job.ts';

let database: TestDatabase;
let storeId: string;
let queue: string;
let now: Date;
let limits: { working: number; open: number };
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  [storeId, queue] = [randomUUID(), randomUUID()];
  now = new Date();
  limits = { working: 1, open: 10 };
  await seen();
});

const later = async (seconds: number) => {
  now = new Date(now.getTime() + seconds * 1_000);
  await seen();
};
const seen = (of = queue) =>
  noteImageWorker(database.db, { store_id: storeId, queue: of, able: true, reason: '', seen_at: now });

/** Jobs of one set each, or all of one set, made one after the other. */
async function jobs(count: number, key?: string): Promise<string[]> {
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) {
    now = new Date(now.getTime() + 1);
    const of = key === undefined ? {} : { key };
    ids.push((await newImageJob(database.db, { storeId, createdAt: now, ...of })).id);
  }
  return ids;
}

/** What a worker has that began at some time. */
const deps = (since = new Date(0)) => ({
  since,
  db: database.db,
  clock: () => now,
  imageLimits: { ...limits, stepSeconds: 60, userSeconds: 86_400, queueSeconds: 86_400 },
});

/** A worker that began at some time asks for a job; answers `go` or what the job is told to wait for. */
async function ask(id = '', status: 'fetching_image' | 'packaging_artifacts' = 'fetching_image', since = new Date(0)) {
  const turn = await takeImageRunTurn(deps(since), id, status);
  return turn.state === 'wait' ? turn.message : turn.state;
}

async function opened(id = '') {
  await endImageTurn(database.db, id);
  await moveImageJob(database.db, id, 'waiting_on_user', { waiting_since: now });
}

const packs = async (id = '') => ask(id, 'packaging_artifacts');

test('whoever was made first goes first, in whatever order they ask', async () => {
  const [first, second, third] = await jobs(3);
  expect(await ask(third)).toBe('waits for its turn: 2 that were made before it wait too');
  expect(await ask(second)).toBe('waits for its turn: 1 that were made before it wait too');
  expect(await ask(first)).toBe('go');
  const busy = '1 other image jobs are unpacked or packed now (MUSTER_IMAGE_WORK is 1)';
  expect(await ask(third)).toBe(`waits for its turn: ${busy}, and 1 that were made before it wait too`);
  expect(await ask(second)).toBe(`waits for its turn: ${busy}`);
  await opened(first);
  expect(await ask(third)).toContain('1 that were made before');
  expect(await ask(second)).toBe('go');
  await opened(second);
  expect(await ask(third)).toBe('go');
});

test('of two that were made at one time the ids decide', async () => {
  const made = await Promise.all([1, 2, 3].map(() => newImageJob(database.db, { storeId, createdAt: now })));
  const [first, ...rest] = made.map(({ id }) => id).sort();
  for (const id of rest) expect(await ask(id)).toContain('waits for its turn');
  expect(await ask(first)).toBe('go');
});

test('as many go at once as there is room, the first of the line', async () => {
  limits.working = 2;
  const [first, second, third] = await jobs(3);
  expect(await ask(third)).toContain('waits for its turn');
  expect(await ask(second)).toBe('go');
  expect(await ask(third)).toContain('waits for its turn');
  expect(await ask(first)).toBe('go');
});

test('what waits to be packed goes before what was made later and waits to begin', async () => {
  const [first, second, third] = await jobs(3);
  expect(await ask(first)).toBe('go');
  await opened(first);
  expect(await ask(second)).toBe('go');
  expect(await packs(first)).toContain('unpacked or packed now');
  expect(await ask(third)).toContain('and 1 that were made before it wait too');
  await opened(second);
  expect(await ask(third)).toContain('1 that were made before');
  expect(await packs(first)).toBe('go');
});

test('who may not begin keeps nobody from packing', async () => {
  limits = { working: 2, open: 1 };
  const [first, second, third] = await jobs(3);
  expect(await ask(first)).toBe('go');
  await opened(first);
  expect(await ask(second)).toContain('are open');
  // It began while more were allowed to.
  limits = { working: 1, open: 3 };
  await later(3_600);
  expect(await ask(third)).toBe('go');
  await opened(third);
  limits.open = 1;
  expect(await ask(second)).toContain('2 other image jobs are open');
  expect(await packs(third)).toBe('go');
});

test('room for one set is not taken by a later one', async () => {
  limits = { working: 3, open: 2 };
  const [pair, [single]] = [await jobs(2, randomUUID()), await jobs(1)];
  expect(await ask(single)).toContain('2 that were made before it wait too');
  expect(await ask(pair[0])).toBe('go');
  expect(await ask(pair[1])).toBe('go');
  expect(await ask(single)).toContain('2 other image jobs are open');
});

describe('passed over is', () => {
  test('a job that was made and for which nobody asks', async () => {
    const [, second] = await jobs(2);
    await later(29);
    expect(await ask(second)).toContain('1 that were made before it wait too');
    await later(2);
    expect(await ask(second)).toBe('go');
  });

  test('a job for which nobody asks any more, until somebody does', async () => {
    const [first, second, third] = await jobs(3);
    expect(await ask(first)).toBe('go');
    for (const id of [second, third]) expect(await ask(id)).toContain('waits for its turn');
    await opened(first);
    await later(60);
    expect(await ask(third)).toBe('go');
    await opened(third);
    const [fourth] = await jobs(1);
    expect(await ask(second)).toBe('go');
    expect(await ask(fourth)).toContain('unpacked or packed now');
  });

  test('a job that is deleted or has ended', async () => {
    const [first, second, third] = await jobs(3);
    expect(await ask(third)).toContain('2 that were made before');
    await markImageJobsDeleted(database.db, { id: first ?? '' }, now);
    await moveImageJob(database.db, second ?? '', 'error');
    expect(await ask(third)).toBe('go');
  });

  test('a job whose machine is away', async () => {
    const [first, second, third] = await jobs(3);
    for (const id of [first, second]) {
      expect(await ask(id)).toBe('go');
      await opened(id);
    }
    expect(await ask(third)).toBe('go');
    // It was unpacked on a machine that has gone; the other two are on this one.
    await database.db
      .updateTable('image_jobs')
      .set({ queue: `${queue}-away` })
      .where('id', '=', first ?? '')
      .execute();
    expect(await packs(second)).toContain('unpacked or packed now');
    expect(await packs(first)).toContain('no worker');
    await opened(third);
    expect(await packs(third)).toContain('1 that were made before');
    expect(await packs(second)).toBe('go');
  });
});

test('whoever waited for a machine that was away has its place when that comes back', async () => {
  const [first, second] = await jobs(2);
  now = new Date(now.getTime() + 600_000);
  expect(await ask(first)).toContain('no worker');
  await later(10);
  expect(await ask(second)).toContain('1 that were made before');
  expect(await ask(first)).toBe('go');
});

test('who waits is known after a start of the service, however long it was off', async () => {
  const [first, second] = await jobs(2);
  expect(await ask(first)).toBe('go');
  expect(await ask(second)).toContain('waits for its turn');
  const [third] = await jobs(1);
  await opened(first);
  await later(3_600);
  const started = now;
  expect(await ask(third, 'fetching_image', started)).toContain('1 that were made before');
  await later(60);
  expect(await ask(second, 'fetching_image', started)).toBe('go');
});

test('a wait to be packed begins with itself, though a worker of a former release gave the turn before', async () => {
  const [first = ''] = await jobs(1);
  await later(90_000);
  const { db } = database;
  await db.updateTable('image_jobs').set({ queue, status: 'fetching_image' }).where('id', '=', first).execute();
  await opened(first);
  const [second] = await jobs(1);
  expect(await ask(second)).toBe('go');
  expect(await packs(first)).toContain('unpacked or packed now');
  await later(60);
  expect(await packs(first)).toContain('unpacked or packed now');
  await later(90_000);
  expect(await packs(first)).toBe('over');
});

test('a turn whose answer was lost is had again, though others wait', async () => {
  const [first, second] = await jobs(2);
  expect(await ask(second)).toContain('waits for its turn');
  for (const _ of ['told', 'lost']) expect(await ask(first)).toBe('go');
  expect(await ask(second)).toContain('unpacked or packed now');
});

test('those far behind ask seldom, and the first one soon', async () => {
  const ids = await jobs(40);
  expect(await ask(ids[0])).toBe('go');
  const pauses: (number | null)[] = [];
  for (const id of ids.slice(1)) {
    const turn = await takeImageRunTurn(deps(), id, 'fetching_image');
    pauses.push(turn.state === 'wait' ? turn.retrySeconds : null);
  }
  expect(pauses.slice(0, 3)).toEqual([3, 6, 9]);
  expect(pauses.at(-1)).toBe(60);
});
