/** Waits that nobody watches have an end too: what the records say of a job whose machine is away. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readImageRun, takeImageRunTurn } from '../../control/images/run-image-job.ts';
import { findImageJob, type ImageJobRow, moveImageJob, noteImageWorker } from '../../store/images/image-jobs.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { newImageJob } from './new-image-job.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;
const USER_SECONDS = 60;
const QUEUE_SECONDS = 12 * HOUR;
let database: TestDatabase;
let storeId: string;
let queue: string;
let now: Date;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());
beforeEach(() => {
  [storeId, queue] = [randomUUID(), randomUUID()];
  now = new Date();
});

const deps = (since = new Date(0)) => ({
  since,
  db: database.db,
  clock: () => now,
  imageLimits: { working: 1, open: 10, stepSeconds: 60, userSeconds: USER_SECONDS, queueSeconds: QUEUE_SECONDS },
});
const later = (seconds: number) => {
  now = new Date(now.getTime() + seconds * 1_000);
};
const seen = (of = queue, able = true) =>
  noteImageWorker(database.db, { store_id: storeId, queue: of, able, reason: '', seen_at: now });

/** A job that came to a status on the machine. */
async function jobIn(status: 'creating' | 'fetching_image' | 'waiting_on_user' | 'packaging_artifacts') {
  await seen();
  const job = await newImageJob(database.db, { storeId });
  if (status === 'creating') return job;
  expect((await takeImageRunTurn(deps(), job.id, 'fetching_image')).state).toBe('go');
  if (status === 'fetching_image') return job;
  await moveImageJob(database.db, job.id, 'waiting_on_user', { waiting_since: now, port: 100, host: 'images' });
  await database.db.updateTable('image_jobs').set({ working: false }).where('id', '=', job.id).execute();
  if (status === 'packaging_artifacts') await takeImageRunTurn(deps(), job.id, status);
  return job;
}

const end = async (job: ImageJobRow) => {
  const row = await findImageJob(database.db, job.id);
  return row?.status === 'error' ? row.message : row?.status;
};

describe('a job that waits for its user', () => {
  test('ends when the time is over and its machine is away', async () => {
    const job = await jobIn('waiting_on_user');
    later(USER_SECONDS);
    expect(await readImageRun(deps(), job.id)).toMatchObject({ status: 'waiting_on_user', over: false });
    later(70);
    expect(await readImageRun(deps(), job.id)).toMatchObject({ status: 'error', over: true, queue });
    expect(await end(job)).toContain(
      `its user left no marker (complete or failed) within ${USER_SECONDS} s (MUSTER_IMAGE_USER_WAIT), and its machine is away`,
    );
    expect((await findImageJob(database.db, job.id))?.ended_at).toEqual(now);
  });

  test('is left to its machine where that is there, though not for ever', async () => {
    const job = await jobIn('waiting_on_user');
    later(USER_SECONDS + HOUR);
    await seen();
    expect(await readImageRun(deps(), job.id)).toMatchObject({ status: 'waiting_on_user', over: false });
    later(DAY);
    await seen();
    expect(await readImageRun(deps(), job.id)).toMatchObject({ over: true });
  });
});

describe('a machine that is there and takes up no work', () => {
  test.each(['fetching_image', 'packaging_artifacts'] as const)('ends a job in %s', async (status) => {
    const job = await jobIn(status);
    later(2 * DAY);
    await seen();
    expect(await readImageRun(deps(), job.id, DAY - 600)).toMatchObject({ status, over: false });
    expect(await readImageRun(deps(), job.id, DAY)).toMatchObject({ status: 'error', over: true });
    expect(await end(job)).toBe('its machine is there, but took up no work for 86400 s');
  });

  test('ends none that waits for its user: his time is its limit', async () => {
    const job = await jobIn('waiting_on_user');
    expect(await readImageRun(deps(), job.id, DAY)).toMatchObject({ status: 'waiting_on_user', over: false });
  });
});

describe('a machine that is there and cannot do it for the moment', () => {
  test('ends a job only when it could not for a day, however old that is', async () => {
    const job = await jobIn('waiting_on_user');
    const patient = { ...deps(), imageLimits: { ...deps().imageLimits, userSeconds: 10 * DAY } };
    const turn = () => takeImageRunTurn(patient, job.id, 'packaging_artifacts');
    later(DAY + HOUR);
    await seen();
    later(20);
    await seen(queue, false);
    expect(await turn()).toMatchObject({ state: 'wait' });
    later(DAY - HOUR);
    await seen(queue, false);
    expect([(await turn()).state, await end(job)]).toEqual(['wait', 'waiting_on_user']);
    later(2 * HOUR);
    await seen(queue, false);
    expect(await turn()).toEqual({ state: 'over' });
    expect(await end(job)).toContain('no worker');
  });

  test('has what a former release has noted of it', async () => {
    const job = await jobIn('creating');
    later(DAY + HOUR);
    await seen();
    await database.db.updateTable('image_workers').set({ able_at: null }).where('queue', '=', queue).execute();
    later(20);
    await seen(queue, false);
    expect(await readImageRun(deps(), job.id)).toMatchObject({ status: 'creating', over: false });
    later(DAY);
    await seen(queue, false);
    expect(await readImageRun(deps(), job.id)).toMatchObject({ over: true });
  });

  test('is as one that never was where nothing is noted of it', async () => {
    const job = await jobIn('creating');
    await database.db
      .updateTable('image_workers')
      .set({ able: false, able_at: null })
      .where('queue', '=', queue)
      .execute();
    later(DAY + HOUR);
    await seen(queue, false);
    expect(await readImageRun(deps(), job.id)).toMatchObject({ over: true });
  });
});

describe('a machine that does not come back', () => {
  test.each(['creating', 'fetching_image', 'packaging_artifacts'] as const)('ends a job in %s', async (status) => {
    const job = await jobIn(status);
    later(DAY - HOUR);
    expect(await readImageRun(deps(), job.id)).toMatchObject({ status, over: false });
    later(2 * HOUR);
    expect(await readImageRun(deps(), job.id)).toMatchObject({ status: 'error', over: true });
    expect(await end(job)).toContain('no worker');
  });

  test.each([
    ['creating', 'fetching_image'],
    ['waiting_on_user', 'packaging_artifacts'],
  ] as const)('ends a job in %s that asks for its turn', async (status, next) => {
    const job = await jobIn(status);
    later(DAY - HOUR);
    expect(await takeImageRunTurn(deps(), job.id, next)).toMatchObject({ state: 'wait' });
    expect(await end(job)).toBe(status);
    later(2 * HOUR);
    expect(await takeImageRunTurn(deps(), job.id, next)).toEqual({ state: 'over' });
    expect(await end(job)).toContain('no worker');
  });

  test('ends none that another machine can unpack', async () => {
    const job = await jobIn('fetching_image');
    later(2 * DAY);
    await seen(`${queue}-2`);
    expect(await readImageRun(deps(), job.id)).toMatchObject({ over: false });
    expect(await takeImageRunTurn(deps(), job.id, 'fetching_image')).toEqual({ state: 'go', queue: `${queue}-2` });
  });

  test('is the only one that can pack what was unpacked on it', async () => {
    const job = await jobIn('waiting_on_user');
    later(HOUR);
    await seen(`${queue}-2`);
    expect(await takeImageRunTurn(deps(), job.id, 'packaging_artifacts')).toMatchObject({ state: 'wait' });
    await seen();
    expect(await takeImageRunTurn(deps(), job.id, 'packaging_artifacts')).toEqual({ state: 'go', queue });
  });

  test('has some minutes to come back after all was switched off', async () => {
    const [open, created] = [await jobIn('waiting_on_user'), await jobIn('creating')];
    later(2 * DAY);
    const start = now;
    for (const job of [created, open]) {
      expect(await readImageRun(deps(start), job.id)).toMatchObject({ over: false });
    }
    expect(await takeImageRunTurn(deps(start), created.id, 'fetching_image')).toMatchObject({ state: 'wait' });
    later(300);
    for (const job of [created, open]) expect(await readImageRun(deps(start), job.id)).toMatchObject({ over: true });
  });

  test('is not one that came back', async () => {
    const job = await jobIn('creating');
    later(2 * DAY);
    await seen();
    later(HOUR);
    expect(await readImageRun(deps(), job.id)).toMatchObject({ over: false });
    expect(await takeImageRunTurn(deps(), job.id, 'fetching_image')).toMatchObject({ state: 'wait' });
  });
});

describe('a turn that does not come', () => {
  /** A job that has the only turn, and another one that waits for it. */
  async function busy(status: 'creating' | 'waiting_on_user') {
    const open = status === 'waiting_on_user' ? await jobIn(status) : null;
    const working = await jobIn('fetching_image');
    return { waiting: open ?? (await jobIn(status)), working };
  }
  const one = () => ({ ...deps(), imageLimits: { ...deps().imageLimits, userSeconds: 10 * DAY } });

  test.each([
    ['creating', 'fetching_image'],
    ['waiting_on_user', 'packaging_artifacts'],
  ] as const)('ends a job in %s, of a session or not, with what it waited for', async (status, next) => {
    const { waiting } = await busy(status);
    expect(await takeImageRunTurn(one(), waiting.id, next)).toMatchObject({ state: 'wait' });
    later(QUEUE_SECONDS);
    await seen();
    expect(await takeImageRunTurn(one(), waiting.id, next)).toMatchObject({ state: 'wait' });
    later(301);
    await seen();
    expect(await takeImageRunTurn(one(), waiting.id, next)).toEqual({ state: 'over' });
    const message = 'its turn did not come within 12 h (MUSTER_IMS_QUEUE_WAIT): 1 other image jobs are unpacked';
    expect(await end(waiting)).toContain(message);
    expect((await findImageJob(database.db, waiting.id))?.ended_at).toEqual(now);
  });

  test('may be longer away than a day, also when the workflow goes on as a new one', async () => {
    const { waiting } = await busy('waiting_on_user');
    const patient = { ...deps(), imageLimits: { ...deps().imageLimits, queueSeconds: 5 * DAY } };
    const turn = () => takeImageRunTurn(patient, waiting.id, 'packaging_artifacts');
    expect(await turn()).toMatchObject({ state: 'wait' });
    for (const seconds of [USER_SECONDS + DAY + HOUR, 4 * DAY - HOUR]) {
      later(seconds);
      await seen();
      expect(await readImageRun(patient, waiting.id)).toMatchObject({ status: 'waiting_on_user', over: false });
      expect([(await turn()).state, await end(waiting)]).toEqual(['wait', 'waiting_on_user']);
    }
    later(300 - USER_SECONDS + 1);
    await seen();
    expect(await turn()).toEqual({ state: 'over' });
    expect(await end(waiting)).toContain('its turn did not come within 120 h (MUSTER_IMS_QUEUE_WAIT)');
  });

  test('counts anew for each turn', async () => {
    const { waiting, working } = await busy('waiting_on_user');
    later(QUEUE_SECONDS + HOUR);
    await seen();
    expect(await takeImageRunTurn(one(), waiting.id, 'packaging_artifacts')).toMatchObject({ state: 'wait' });
    later(QUEUE_SECONDS);
    await seen();
    await moveImageJob(database.db, working.id, 'error');
    expect(await takeImageRunTurn(one(), waiting.id, 'packaging_artifacts')).toMatchObject({ state: 'go' });
  });

  test('ends none right after a start, when the first one may still go', async () => {
    const { waiting } = await busy('creating');
    later(DAY);
    await seen();
    const after = { ...one(), since: now };
    expect(await takeImageRunTurn(after, waiting.id, 'fetching_image')).toMatchObject({ state: 'wait' });
    expect(await end(waiting)).toBe('creating');
  });
});
