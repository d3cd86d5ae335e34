/** Sets of jobs that need the same ports: none waits for a port that another one has, which waits for one of its own. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { takeImageRunTurn } from '../../control/images/run-image-job.ts';
import { findImageJob, markImageJobCleaned, moveImageJob, noteImageWorker } from '../../store/images/image-jobs.ts';
import { endImageTurn } from '../../store/images/image-turns.ts';
import { keepImagePort } from '../../store/images/shell-ports.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { newImageJob } from './new-image-job.ts';

type Status = 'fetching_image' | 'packaging_artifacts';
interface Job {
  id: string;
  /** Name of its set. */
  of: string;
}
/** Between two questions of each, ms: often enough that none loses its place. */
const ROUND_MS = 20_000;
/** Two hours: what waits for longer waits for itself. */
const ROUNDS = 360;
let database: TestDatabase;
let storeId: string;
let queue: string;
let keys: Map<string, string>;
let now: Date;
let working: number;
let ports: readonly [number, number];
beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(() => {
  [storeId, queue, keys] = [randomUUID(), randomUUID(), new Map()];
  now = new Date();
  working = 1;
  ports = [100, 103];
});
afterAll(() => database.close());

/** Makes jobs one after the other, of the sets that are named. */
async function made(...sets: string[]): Promise<Job[]> {
  const jobs: Job[] = [];
  for (const of of sets) {
    now = new Date(now.getTime() + 1);
    const key = keys.get(of) ?? randomUUID();
    keys.set(of, key);
    jobs.push({ of, id: (await newImageJob(database.db, { storeId, key, createdAt: now })).id });
  }
  return jobs;
}
async function ask(id = '', status: Status = 'fetching_image'): Promise<string> {
  await noteImageWorker(database.db, { store_id: storeId, queue, able: true, reason: '', seen_at: now, ports });
  const imageLimits = { working, open: 10, stepSeconds: 60, userSeconds: 86_400, queueSeconds: 86_400 };
  const deps = { db: database.db, clock: () => now, since: new Date(0), imageLimits };
  const turn = await takeImageRunTurn(deps, id, status);
  return turn.state === 'wait' ? turn.message : turn.state;
}
const statusOf = async (id: string) => (await findImageJob(database.db, id))?.status;
const portsHad = () =>
  database.db
    .selectFrom('image_ports')
    .select(['job_id', 'port'])
    .where('queue', '=', queue)
    .where('released_at', 'is', null);

async function open(id = ''): Promise<void> {
  expect(await portsHad().where('job_id', '=', id).execute()).toHaveLength(1);
  await endImageTurn(database.db, id);
  await moveImageJob(database.db, id, 'waiting_on_user', { waiting_since: now });
}

/** Lets all go on until they are packed: each asks again and again, and a set is done when it is open as a whole. Answers what began and ended. */
async function run(jobs: readonly Job[], order: (jobs: readonly Job[]) => readonly Job[]): Promise<string[]> {
  const happened: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    now = new Date(now.getTime() + ROUND_MS);
    const begun: Job[] = [];
    for (const job of order(jobs)) {
      const all = await Promise.all(jobs.map(async (one) => ({ ...one, status: await statusOf(one.id) })));
      const status = all.find(({ id }) => id === job.id)?.status;
      if (status === 'creating' && (await ask(job.id)) === 'go') begun.push(job);
      const isOpen = all.every((one) => one.of !== job.of || ['waiting_on_user', 'success'].includes(one.status ?? ''));
      if (status === 'waiting_on_user' && isOpen && (await ask(job.id, 'packaging_artifacts')) === 'go') {
        await moveImageJob(database.db, job.id, 'success');
        await markImageJobCleaned(database.db, job.id, now);
        happened.push(`${job.of} done`);
      }
    }
    for (const job of begun) {
      await open(job.id);
      happened.push(`${job.of} open`);
    }
    if (happened.filter((what) => what.endsWith('done')).length === jobs.length) return happened;
  }
  throw new Error(`they wait for each other after: ${happened.join(', ')}`);
}
const times = (count: number, what: string) => Array.from({ length: count }, () => what);
const asMade = (jobs: readonly Job[]) => jobs;
const lastFirst = (jobs: readonly Job[]) => [...jobs].reverse();
const ways = [
  ['as they were made', 1, asMade],
  ['the last one first', 1, lastFirst],
  ['as they were made, two at once', 2, asMade],
  ['the last one first, two at once', 2, lastFirst],
  ['the last one first, six at once', 6, lastFirst],
] as const;

describe.each(ways)('asking %s', (_way, atOnce, order) => {
  beforeEach(() => {
    working = atOnce;
  });

  test('two sets that were made in turn are open one after the other', async () => {
    const jobs = await made('A', 'B', 'A', 'B', 'A', 'B');
    const happened = await run(jobs, order);
    const one = (of: string) => [...times(3, `${of} open`), ...times(3, `${of} done`)];
    expect(happened).toEqual([...one('A'), ...one('B')]);
  });

  test('sets of which jobs come later do not wait for each other', async () => {
    const begun = await made('A', 'B');
    for (const { id } of begun) {
      expect(await ask(id)).toBe('go');
      await open(id);
    }
    const jobs = [...begun, ...(await made('B', 'A', 'C', 'B', 'A'))];
    expect((await run(jobs, order)).filter((what) => what.endsWith('open'))).toHaveLength(5);
  });

  test('a set that needs all ports waits for those that have begun, and no later one goes before it', async () => {
    const jobs = await made('A', 'B', 'B', 'B', 'B', 'C', 'D', 'D', 'D');
    const happened = (await run(jobs, order)).filter((what) => what.endsWith('open'));
    expect(happened.slice(0, 5)).toEqual(['A open', ...times(4, 'B open')]);
    expect(happened).toHaveLength(9);
  });
});

describe('where two may work at once', () => {
  beforeEach(() => {
    working = 2;
  });

  test('the only free port is for the first in line', async () => {
    ports = [100, 101];
    await keepImagePort(database.db, queue, 100, (await made('open'))[0]?.id ?? '');
    const [first, second] = await made('first', 'second');
    expect(await ask(second?.id)).toMatch(
      /^waits for its turn: of the ports 100 to 101 1 are free .* and 2 are needed/,
    );
    expect(await ask(first?.id)).toBe('go');
    expect(await ask(second?.id)).toContain('no port of 100 to 101 is free');
  });

  test('so it is among those of a set that has begun', async () => {
    ports = [100, 102];
    const [one, two, three] = await made('A', 'A', 'A');
    expect(await ask(one?.id)).toBe('go');
    await open(one?.id);
    await keepImagePort(database.db, queue, 101, randomUUID());
    expect(await ask(three?.id)).toContain('2 are needed');
    expect(await ask(two?.id)).toBe('go');
  });
});

test('a set with more jobs than there are ports any more begins when all are free', async () => {
  ports = [100, 101];
  const [other, ...large] = await made('other', 'large', 'large', 'large');
  expect(await ask(other?.id)).toBe('go');
  await open(other?.id);
  expect(await ask(large[0]?.id)).toMatch(/1 are free .* 2 are needed/);
  await moveImageJob(database.db, other?.id ?? '', 'error');
  await markImageJobCleaned(database.db, other?.id ?? '', now);
  now = new Date(now.getTime() + 601_000);
  for (const { id } of large.slice(0, 2)) {
    expect(await ask(id)).toBe('go');
    await open(id);
  }
  expect(await ask(large[2]?.id)).toContain('no port of 100 to 101 is free');
});
