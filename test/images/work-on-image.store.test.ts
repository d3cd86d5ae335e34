/** What the work on an image leaves in the records; the builder here says what is told to it. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ImageWorkDependencies } from '../../activities/images/machine-work.ts';
import { openRoot } from '../../activities/images/open-root.ts';
import { watchRoot } from '../../activities/images/watch-root.ts';
import { sweepImageJobs } from '../../control/images/sweep-images.ts';
import { musterError } from '../../domain/errors.ts';
import {
  anyImageJob,
  findImageJob,
  type ImageJobRow,
  markImageJobCleaned,
  markImageJobsDeleted,
  moveImageJob,
} from '../../store/images/image-jobs.ts';
import { takeImageTurn } from '../../store/images/image-turns.ts';
import { takeImagePort } from '../../store/images/shell-ports.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { notingTell } from '../support/temporal/told.ts';
import { newImageJob } from './new-image-job.ts';

const never = new AbortController().signal;
const STORE = randomUUID();
let database: TestDatabase;
let queue: string;
beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(() => {
  queue = randomUUID();
});
afterAll(() => database.close());

/** A machine with three ports whose builder opens an environment unless `trouble` says otherwise; `asked` are the ports. */
function machine() {
  const now = { value: new Date() };
  const asked: number[] = [];
  const state = { trouble: (_port: number): Error | null => null };
  const open: ImageWorkDependencies['imageBuilder']['open'] = async ({ port }) => {
    asked.push(port);
    const trouble = state.trouble(port);
    if (trouble !== null) throw trouble;
    return { port, hostKey: 'ssh-ed25519 key', warnings: [] };
  };
  const deps = {
    db: database.db,
    clock: () => now.value,
    imageBuilder: { open },
    imageShells: { queue, ports: [100, 102], address: '127.0.0.1', host: 'images' },
  } as unknown as ImageWorkDependencies;
  return { deps, asked, state, now };
}

/** A job that is unpacked. */
async function unpacked(): Promise<ImageJobRow> {
  const job = await newImageJob(database.db, { storeId: STORE });
  const asking = { id: job.id, queue, status: 'fetching_image', limits: { working: 10, open: 10 } } as const;
  const now = new Date();
  await database.db.transaction().execute((trx) => takeImageTurn(trx, { ...asking, now, lapsed: now }));
  return job;
}

/** A database whose answers are told only when `letGo` is called: they are old by then. `hasRead`: the first was made. */
function stalledDatabase() {
  const [read, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const db = database.db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      read.resolve();
      await go.promise;
      return result;
    },
  });
  return { db, hasRead: read.promise, letGo: go.resolve };
}

const portOf = async (job: ImageJobRow) => (await findImageJob(database.db, job.id))?.port;
const ports = async () =>
  (await database.db.selectFrom('image_ports').selectAll().where('queue', '=', queue).orderBy('port').execute()).map(
    ({ port, job_id, released_at }) => ({ port, job: job_id, resting: released_at !== null }),
  );

describe('the port of a job', () => {
  test('stays its own when it could not be opened again at once', async () => {
    const { deps, asked, state, now } = machine();
    const job = await unpacked();
    await openRoot(deps, job.id, never);
    expect(await portOf(job)).toBe(100);
    state.trouble = () => musterError('image_environment_failed', 'the login did not come up');
    await expect(openRoot(deps, job.id, never)).rejects.toMatchObject({ code: 'image_environment_failed' });
    state.trouble = () => null;
    await openRoot(deps, job.id, never);
    expect(asked).toEqual([100, 100, 100]);
    now.value = new Date(now.value.getTime() + 3_600_000);
    const other = await unpacked();
    await openRoot(deps, other.id, never);
    expect(await ports()).toEqual([
      { port: 100, job: job.id, resting: false },
      { port: 101, job: other.id, resting: false },
    ]);
  });

  test('is its own again when it rested', async () => {
    const { deps } = machine();
    const job = await unpacked();
    await openRoot(deps, job.id, never);
    await database.db.updateTable('image_ports').set({ released_at: new Date() }).where('queue', '=', queue).execute();
    await openRoot(deps, job.id, never);
    expect(await ports()).toEqual([{ port: 100, job: job.id, resting: false }]);
  });

  test('is given up when another program took it, and then rests', async () => {
    const { deps, asked, state } = machine();
    const job = await unpacked();
    await openRoot(deps, job.id, never);
    state.trouble = (port) => (port === 101 ? null : musterError('image_port_taken', `port ${port} is taken`));
    await openRoot(deps, job.id, never);
    expect(asked).toEqual([100, 100, 101]);
    expect(await portOf(job)).toBe(101);
    expect(await ports()).toEqual([
      { port: 100, job: job.id, resting: true },
      { port: 101, job: job.id, resting: false },
    ]);
  });

  test('is another one when another job has it by now, whose it stays', async () => {
    const { deps, asked } = machine();
    const job = await unpacked();
    await moveImageJob(database.db, job.id, 'waiting_on_user', { host: 'images', port: 100 });
    const other = randomUUID();
    const wanted = { queue, jobId: other, from: 100, to: 100, freeSince: new Date(), avoid: [] };
    expect(await takeImagePort(database.db, wanted)).toBe(100);
    await openRoot(deps, job.id, never);
    expect(asked).toEqual([101]);
    expect(await ports()).toEqual([
      { port: 100, job: other, resting: false },
      { port: 101, job: job.id, resting: false },
    ]);
  });

  test('is given back by the sweep when a late try took it again for a job that is over', async () => {
    const { deps, state } = machine();
    const [job, open] = [await unpacked(), await unpacked()];
    await openRoot(deps, job.id, never);
    await openRoot(deps, open.id, never);
    const { db, hasRead, letGo } = stalledDatabase();
    const late = openRoot({ ...deps, db }, job.id, never);
    late.catch(() => undefined);
    await hasRead;
    await moveImageJob(database.db, job.id, 'error');
    await markImageJobCleaned(database.db, job.id, new Date());
    state.trouble = () => musterError('image_environment_failed', 'the job has no unpacked image');
    letGo();
    await expect(late).rejects.toMatchObject({ code: 'image_environment_failed' });
    expect((await ports())[0]).toEqual({ port: 100, job: job.id, resting: false });
    await sweepImageJobs({ db: database.db, tell: async () => undefined, clock: () => new Date(0) });
    expect(await ports()).toEqual([
      { port: 100, job: job.id, resting: true },
      { port: 101, job: open.id, resting: false },
    ]);
  });

  test('that was new and could not be opened rests', async () => {
    const { deps, state } = machine();
    const job = await unpacked();
    state.trouble = () => musterError('image_environment_failed', 'the login did not come up');
    await expect(openRoot(deps, job.id, never)).rejects.toMatchObject({ code: 'image_environment_failed' });
    expect(await ports()).toEqual([{ port: 100, job: job.id, resting: true }]);
  });
});

describe('the sweep', () => {
  test.each<[string, (job: ImageJobRow) => Promise<unknown>]>([
    ['ended', ({ id }) => moveImageJob(database.db, id, 'error')],
    ['deleted', ({ id }) => markImageJobsDeleted(database.db, { id }, new Date())],
  ])('tells the workflow of a job that was %s and may not have heard it', async (_what, over) => {
    const [job, other] = [await unpacked(), await unpacked()];
    await over(job);
    const { tell, told } = notingTell();
    const sweep = (later: number) =>
      sweepImageJobs({ db: database.db, tell, clock: () => new Date(Date.now() + later) });
    await sweep(60_000);
    const wordsOf = ({ id }: ImageJobRow) => told.filter((word) => word.includes(id));
    expect(wordsOf(job)).toEqual([`image-job/${job.id} endImageJob`]);
    // One that goes on is started where its workflow is lost.
    expect(wordsOf(other)).toEqual([`image-job/${other.id}`]);
  });

  test('says it for a day, and then only starts what is lost: a workflow takes only so many words', async () => {
    const job = await unpacked();
    await moveImageJob(database.db, job.id, 'error', { ended_at: new Date() });
    const { tell, told } = notingTell();
    for (const hours of [23, 25]) {
      await sweepImageJobs({ db: database.db, tell, clock: () => new Date(Date.now() + hours * 3_600_000) });
    }
    const words = told.filter((word) => word.includes(job.id));
    expect(words).toEqual([`image-job/${job.id} endImageJob`, `image-job/${job.id}`]);
  });

  test('leaves a young job to who has made it, and forgets a deleted one of which nothing is left', async () => {
    const [young, gone] = [await unpacked(), await unpacked()];
    await database.db
      .updateTable('image_jobs')
      .set({ cleaned: true, deleted_at: new Date() })
      .where('id', '=', gone.id)
      .execute();
    const { tell, told } = notingTell();
    const made = (await findImageJob(database.db, young.id))?.created_at.getTime() ?? 0;
    await sweepImageJobs({ db: database.db, tell, clock: () => new Date(made + 19_000) });
    expect(told.filter((word) => word.includes(young.id))).toEqual([]);
    await sweepImageJobs({ db: database.db, tell, clock: () => new Date(made + 60_000) });
    expect(told.filter((word) => word.includes(gone.id))).toEqual([]);
    expect(await anyImageJob(database.db, gone.id)).toBeNull();
  });
});

describe('a full disk while jobs wait for their users', () => {
  /** A machine with roots of these sizes; each look at an environment is ten seconds later, and its user is done at the fifth. */
  async function waiting(sizes: readonly number[], free: () => number) {
    const { deps, now } = machine();
    const jobs = new Map<string, number>();
    for (const size of sizes) {
      const { id } = await unpacked();
      await moveImageJob(database.db, id, 'waiting_on_user');
      jobs.set(id, size);
    }
    const size = async (id: string) => jobs.get(id) ?? 0;
    const watch = (jobId: string) => {
      let looks = 0;
      const state = async () => {
        now.value = new Date(now.value.getTime() + 10_000);
        looks += 1;
        return looks === 5 ? 'complete' : 'open';
      };
      const imageBuilder = { ...deps.imageBuilder, state, size, free: async () => free() } as typeof deps.imageBuilder;
      const imageLimits = { working: 1, open: 10, stepSeconds: 60, userSeconds: 86_400, queueSeconds: 60 };
      return watchRoot({ ...deps, imageBuilder, imageLimits, minFreeDisk: 100 }, jobId, never);
    };
    return { ids: [...jobs.keys()], watch };
  }

  const statusOf = async (id: string) => (await findImageJob(database.db, id))?.status;

  test('the largest ends with the reason, the others only if that is not enough', async () => {
    const { ids, watch } = await waiting([5, 50, 10], () => 99);
    const [small = '', large = '', next = ''] = ids;
    expect(await watch(small)).toEqual({ state: 'complete' });
    expect(await watch(large)).toEqual({ state: 'gone' });
    expect(await watch(next)).toEqual({ state: 'complete' });
    const ended = await findImageJob(database.db, large);
    expect(ended).toMatchObject({ status: 'error', message: expect.stringContaining('MUSTER_MIN_FREE') });
    expect([await statusOf(small), await statusOf(next)]).toEqual(['waiting_on_user', 'waiting_on_user']);
    await markImageJobCleaned(database.db, large, new Date());
    expect(await watch(next)).toEqual({ state: 'gone' });
    expect(await statusOf(small)).toBe('waiting_on_user');
  });

  test('one whose user is done, and that waits to be packed, stays', async () => {
    const { ids, watch } = await waiting([50, 10], () => 99);
    const [done = '', next = ''] = ids;
    const line = { waiting_since: new Date(), turn_wanted_at: new Date() };
    await database.db.updateTable('image_jobs').set(line).where('id', '=', done).execute();
    expect(await watch(next)).toEqual({ state: 'gone' });
    expect(await statusOf(done)).toBe('waiting_on_user');
  });

  test('no job ends that waits while another one is unpacked, which gives up by itself', async () => {
    const { ids, watch } = await waiting([5], () => 99);
    await unpacked();
    expect(await watch(ids[0] ?? '')).toEqual({ state: 'complete' });
  });

  test('a moment without room ends nothing', async () => {
    let looks = 0;
    const { ids, watch } = await waiting([5], () => {
      looks += 1;
      return looks % 2 === 0 ? 99 : 100;
    });
    expect(await watch(ids[0] ?? '')).toEqual({ state: 'complete' });
    expect(looks).toBeGreaterThan(3);
  });
});
