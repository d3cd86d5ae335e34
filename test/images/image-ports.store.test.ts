/** A port rests after its job: what finds none waits for one, in its place in line. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ImageWorkDependencies } from '../../activities/images/machine-work.ts';
import { openRoot } from '../../activities/images/open-root.ts';
import { createImageJob } from '../../control/images/create-image-job.ts';
import { takeImageRunTurn } from '../../control/images/run-image-job.ts';
import { waitsForTurn } from '../../domain/images/job-turn.ts';
import {
  findImageJob,
  markImageJobCleaned,
  markImageJobsDeleted,
  moveImageJob,
  noteImageWorker,
} from '../../store/images/image-jobs.ts';
import { endImageTurn } from '../../store/images/image-turns.ts';
import { insertImage, insertPublicKey } from '../../store/images/images.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { PUBLIC_KEY } from './fixtures.ts';
import { newImageJob } from './new-image-job.ts';

const HOUR_MS = 3_600_000;
const never = new AbortController().signal;
let database: TestDatabase;
let storeId: string;
let queue: string;
let now: Date;
beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(() => {
  [storeId, queue] = [randomUUID(), randomUUID()];
  now = new Date();
});
afterAll(() => database.close());

const later = (ms: number) => {
  now = new Date(now.getTime() + ms);
};
const seen = (ports?: readonly [number, number]) =>
  noteImageWorker(database.db, {
    store_id: storeId,
    queue,
    able: true,
    reason: '',
    seen_at: now,
    ...(ports ? { ports } : {}),
  });
const newJob = () => newImageJob(database.db, { storeId, createdAt: now });
const rowOf = (id: string) => findImageJob(database.db, id);

/** Asks for a turn on a machine of two ports. */
async function turn(id: string, status: 'fetching_image' | 'packaging_artifacts' = 'fetching_image', working = 1) {
  await seen([100, 101]);
  const imageLimits = { working, open: 10, stepSeconds: 60, userSeconds: 86_400, queueSeconds: 7_200 };
  const deps = { db: database.db, clock: () => now, since: new Date(0), imageLimits };
  return takeImageRunTurn(deps, id, status);
}
/** Opens the environment of a job that has its turn; `asked` are the ports. */
async function open(id: string, clock = () => now) {
  const asked: number[] = [];
  await openRoot(
    {
      db: database.db,
      clock,
      imageBuilder: {
        open: async ({ port }: { port: number }) => {
          asked.push(port);
          return { port, hostKey: 'ssh-ed25519 key', warnings: [] };
        },
      },
      imageShells: { queue, ports: [100, 101], address: '127.0.0.1', host: 'images' },
    } as unknown as ImageWorkDependencies,
    id,
    never,
  );
  return asked;
}
async function opened() {
  const job = await newJob();
  expect((await turn(job.id)).state).toBe('go');
  await open(job.id);
  return job;
}
async function over(id: string) {
  await moveImageJob(database.db, id, 'error');
  await markImageJobCleaned(database.db, id, now);
}

describe('a job that finds no port', () => {
  test('waits for one that has rested, in its place, and says so', async () => {
    const [one, two] = [await opened(), await opened()];
    later(1_000);
    const [third, fourth] = [await newJob(), await newJob()].sort((a, b) => (a.id < b.id ? -1 : 1));
    if (third === undefined || fourth === undefined) throw new Error('no jobs');
    const said =
      'waits for its turn: no port of 100 to 101 is free (MUSTER_IMAGE_PORTS); one rests for 10 min after its job';
    expect(await turn(third.id)).toMatchObject({ state: 'wait', message: said });
    const row = await rowOf(third.id);
    expect([row?.status, row && waitsForTurn(row), row?.working]).toEqual(['creating', true, false]);
    await over(one.id);
    later(9 * 60_000);
    expect(await turn(third.id)).toMatchObject({ state: 'wait' });
    later(30_000);
    expect(await turn(third.id)).toMatchObject({ state: 'wait' });
    later(31_000);
    expect((await turn(fourth.id)).state).toBe('wait');
    expect((await turn(third.id)).state).toBe('go');
    // The port is its own from then on.
    await endImageTurn(database.db, third.id);
    expect(await turn(fourth.id)).toMatchObject({ state: 'wait', message: said });
    expect(await open(third.id)).toEqual([100]);
    expect(await rowOf(two.id)).toMatchObject({ port: 101 });
  });

  test('lets those go first that have one: by them ports get free', async () => {
    await opened();
    const two = await opened();
    const waiting = await newImageJob(database.db, { storeId, createdAt: new Date(now.getTime() - HOUR_MS) });
    expect((await turn(waiting.id)).state).toBe('wait');
    expect((await turn(two.id, 'packaging_artifacts')).state).toBe('go');
  });

  test('does so also when the others of its set have begun', async () => {
    const [key, shell] = [randomUUID(), 's'];
    const jobs = [];
    for (let made = 0; made < 3; made += 1) {
      jobs.push(await newImageJob(database.db, { storeId, key, shell, createdAt: now }));
      later(1_000);
    }
    const [waiting, one, two] = jobs;
    if (!waiting || !one || !two) throw new Error('no jobs');
    for (const { id } of [one, two]) {
      await database.db.updateTable('image_jobs').set({ place_until: null }).where('id', '=', waiting.id).execute();
      expect((await turn(id)).state).toBe('go');
      await open(id);
    }
    expect((await turn(waiting.id)).state).toBe('wait');
    expect((await turn(two.id, 'packaging_artifacts')).state).toBe('go');
  });

  test('ends when the wait for a turn is over, and says what it waited for', async () => {
    await opened();
    await opened();
    later(1_000);
    const third = await newJob();
    expect((await turn(third.id)).state).toBe('wait');
    later(2 * HOUR_MS + 301_000);
    expect((await turn(third.id)).state).toBe('over');
    expect(await rowOf(third.id)).toMatchObject({
      status: 'error',
      message: expect.stringMatching(/did not come within .*MUSTER_IMS_QUEUE_WAIT.*no port of 100 to 101 is free/),
    });
  });

  test('and has its turn already gives it back and waits on its machine', async () => {
    const [one] = [await opened(), await opened()];
    await over(one.id);
    later(1_000);
    const third = await newJob();
    // A machine of a former release does not say which ports it has.
    await noteImageWorker(database.db, { store_id: storeId, queue, able: true, reason: '', seen_at: now });
    const imageLimits = { working: 1, open: 10, stepSeconds: 60, userSeconds: 86_400, queueSeconds: 7_200 };
    const deps = { db: database.db, clock: () => now, since: new Date(0), imageLimits };
    expect((await takeImageRunTurn(deps, third.id, 'fetching_image')).state).toBe('go');
    const seenMeanwhile: unknown[] = [];
    const asked = await open(third.id, () => {
      later(6 * 60_000);
      void rowOf(third.id).then((row) => seenMeanwhile.push([row?.working, row && waitsForTurn(row)]));
      return now;
    });
    expect(asked).toEqual([100]);
    expect(seenMeanwhile).toContainEqual([false, true]);
    expect(await rowOf(third.id)).toMatchObject({ status: 'waiting_on_user', port: 100 });
  });
});

describe('jobs that are to be open at once', () => {
  const deps = () => ({
    db: database.db,
    tell: async () => undefined,
    imageSettings: { maxBytes: 2 ** 20, keepFree: 0, dkms: true },
    clock: () => now,
    log: { warn: () => undefined },
    actor: null,
  });
  async function newImage(): Promise<string> {
    const id = randomUUID();
    await insertImage(database.db, {
      id,
      name: 'base',
      arch: 'x86_64',
      link: null,
      metadata: {},
      store_id: storeId,
      format: 'tar',
      size: 1,
      sha256: null,
      made_by: null,
      made_from: null,
      created_at: now,
      updated_at: now,
      actor: null,
    });
    return id;
  }
  /** Makes jobs of one key: on one image, unless another one is named. */
  async function imageAndKey() {
    const [image, key] = [await newImage(), randomUUID()];
    await insertPublicKey(database.db, { id: key, name: 'k', public_key: PUBLIC_KEY, created_at: now, actor: null });
    return (name: string, on = image) =>
      createImageJob(
        deps(),
        { actor: null },
        {
          job_type: 'customize',
          image_root_archive_name: 'new',
          artifact_id: on,
          public_key_id: key,
          ssh_containers: [{ name, jail: true }],
        },
      );
  }

  test('are refused where they are more than there are ports', async () => {
    const make = await imageAndKey();
    await seen([100, 101]);
    const [first] = [await make('s'), await make('s')];
    const refusal = {
      code: 'image_request_invalid',
      detail: expect.stringMatching(/there are 2 ports.*MUSTER_IMAGE_PORTS/),
    };
    await expect(make('s')).rejects.toMatchObject(refusal);
    await make('other');
    await markImageJobsDeleted(database.db, { id: first?.id }, now);
    await make('s');
    await expect(make('s')).rejects.toMatchObject(refusal);
  });

  test('are refused too where all of them are asked for at the same moment', async () => {
    const make = await imageAndKey();
    await seen([100, 101]);
    // Of one image only one job is made at a time anyway.
    const images = await Promise.all(Array.from({ length: 8 }, newImage));
    const outcomes = await Promise.allSettled(images.map((image) => make('s', image)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'image_request_invalid' });
    }
  });

  test('are not where the machine does not say how many it has', async () => {
    const make = await imageAndKey();
    await seen();
    for (let made = 0; made < 3; made += 1) await make('s');
  });
});
