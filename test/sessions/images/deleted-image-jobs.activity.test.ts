/** With a session its jobs at the image service go, also those that made an image; the image stays (cfs-flows 1.1.9). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { deleteEndedJobs } from '../../../activities/sessions/cluster/delete-ended-jobs.ts';
import { releaseLeftImages } from '../../../activities/sessions/images/release-images.ts';
import type { ImageService } from '../../../domain/images/image-service.ts';
import { createStream } from '../../../store/runs/streams.ts';
import { saveSessionImages } from '../../../store/sessions/session-images.ts';
import { unpurgedSessions } from '../../../store/sessions/sweep.ts';
import { type ImageBench, type ImageWorker, openImageBench } from '../../support/images/image-bench.ts';
import { perform } from '../../support/stack/session-machine.ts';
import { makeSession } from '../../support/temporal/engine-sessions.ts';

const { signal } = new AbortController();
let bench: ImageBench;
let one: ImageWorker;
beforeAll(async () => {
  bench = await openImageBench();
});
beforeEach(async () => {
  bench.reset();
  bench.service.requests.length = 0;
  await bench.db.deleteFrom('sessions').execute();
  one = bench.worker();
});
afterAll(() => bench?.close());

/** A session that has ended; its one image became a new one. */
async function ended() {
  const { session, ref } = await bench.planned(one);
  await bench.opened(one, ref);
  const [job] = bench.jobsOf(session.name);
  if (job === undefined) throw new Error('no job was made');
  bench.service.complete(job);
  const { resultId } = await perform(() => one.activities.finishImage({ ...ref, fault: null }));
  await perform(() => one.activities.releaseImages({ sessionId: session.id }));
  await bench.db.updateTable('sessions').set({ stage: 'ended' }).where('id', '=', session.id).execute();
  expect(bench.jobsOf(session.name)).toHaveLength(1);
  return { session, resultId: resultId ?? '' };
}
const remove = (id: string, deletedAt = new Date()) =>
  bench.db.updateTable('sessions').set({ deleted_at: deletedAt, stage: 'ended' }).where('id', '=', id).execute();
async function isPurged(id: string): Promise<boolean> {
  const row = await bench.db.selectFrom('sessions').select('purged_at').where('id', '=', id).executeTakeFirst();
  return row?.purged_at !== null;
}
const sweep = () => releaseLeftImages(one.deps, signal);

test('the job goes with its session and not before; the new image stays', async () => {
  const { session, resultId } = await ended();
  expect(await sweep()).toEqual([]);
  expect(bench.jobsOf(session.name)).toHaveLength(1);
  await remove(session.id);
  expect(await sweep()).toEqual([]);
  expect(bench.jobsOf(session.name)).toEqual([]);
  expect(bench.service.images.has(resultId)).toBe(true);
  expect(await isPurged(session.id)).toBe(true);
  bench.service.requests.length = 0;
  await sweep();
  expect(bench.service.requests).toEqual([]);
});

test('a job that is gone already is no failure', async () => {
  const { session } = await ended();
  bench.service.jobs.clear();
  await remove(session.id);
  expect(await sweep()).toEqual([]);
  expect(await isPurged(session.id)).toBe(true);
});

describe('a job that cannot be deleted', () => {
  test('is told, tried again, and keeps no other session', async () => {
    const [stuck, other] = [await ended(), await ended()];
    const [job] = bench.jobsOf(stuck.session.name);
    bench.service.trouble = (_method, path) => (path === `/jobs/${job?.id}` ? { kind: 'status', status: 403 } : null);
    for (const { session } of [stuck, other]) await remove(session.id);
    expect(await sweep()).toEqual([stuck.session.name]);
    expect([await isPurged(stuck.session.id), await isPurged(other.session.id)]).toEqual([false, true]);
    bench.service.trouble = () => null;
    expect(await sweep()).toEqual([]);
    expect(await isPurged(stuck.session.id)).toBe(true);
  });

  test('is given up after 30 days', async () => {
    const [old, young] = [await ended(), await ended()];
    const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 3_600_000);
    await remove(old.session.id, daysAgo(31));
    await remove(young.session.id, daysAgo(29));
    expect(await unpurgedSessions(bench.db, 9, daysAgo(30))).toEqual([{ id: old.session.id }]);
  });
});

test('a service that hangs holds the sweep up for one request, and no session without images', async () => {
  const sessions = [await ended(), await ended(), await ended()];
  for (const { session } of sessions) await remove(session.id);
  const plain = await makeSession(bench.db);
  await remove(plain.id);
  bench.service.trouble = () => ({ kind: 'silent' });
  bench.service.requests.length = 0;
  expect(await releaseLeftImages({ ...one.deps, imageService: bench.client(2_000) }, signal)).toHaveLength(1);
  expect(bench.service.requests).toHaveLength(1);
  expect(await unpurgedSessions(bench.db, 9)).toEqual([{ id: plain.id }]);
});

test('without an image service they wait for one', async () => {
  const { session } = await ended();
  await remove(session.id);
  expect(await releaseLeftImages({ ...one.deps, imageService: null }, signal)).toEqual([]);
  expect(await isPurged(session.id)).toBe(false);
});

describe('a session with many jobs', () => {
  /** A deleted session whose images are released; each has a job with the name of the image. */
  async function many(images: readonly string[]) {
    const session = await makeSession(bench.db);
    await saveSessionImages(
      bench.db,
      session.id,
      images.map((image) => ({ image, resultName: image })),
      new Date(),
    );
    await bench.db
      .updateTable('session_images')
      .set((row) => ({ job_id: row.ref('image_id'), released_at: new Date() }))
      .where('session_id', '=', session.id)
      .execute();
    await remove(session.id);
    return session;
  }
  const images = Array.from({ length: 50 }, (_, place) => `image-${place}`);
  const serviceOf = (deleteJob: ImageService['deleteJob']) => ({
    db: bench.db,
    imageService: { deleteJob } as unknown as ImageService,
    clock: () => new Date(),
  });

  test('goes on where the sweep before it ended', async () => {
    const session = await many(images);
    const deleted: string[] = [];
    const first = serviceOf(async (job) => {
      if (job === 'image-25') throw new Error('stuck');
      deleted.push(job);
    });
    expect(await deleteEndedJobs(first, signal)).toEqual([session.name]);
    expect(deleted).toEqual(images.slice(0, 40).filter((job) => job !== 'image-25'));
    const second = serviceOf(async (job) => void deleted.push(job));
    expect(await deleteEndedJobs(second, signal)).toEqual([]);
    expect([...deleted].sort()).toEqual([...images].sort());
    expect(await isPurged(session.id)).toBe(true);
  });

  test('ends within its time, and has lost nothing then', async () => {
    const session = await many(images);
    const over = new AbortController();
    const deleted: string[] = [];
    const service = serviceOf(async (job) => {
      deleted.push(job);
      over.abort();
    });
    expect(await deleteEndedJobs(service, over.signal)).toEqual([session.name]);
    expect(deleted).toEqual(images.slice(0, 20));
    expect(await isPurged(session.id)).toBe(false);
    // No time at all: the records of the session are left too.
    await createStream(bench.db, session.id);
    const streams = () => bench.db.selectFrom('streams').select('id').where('id', '=', session.id).execute();
    expect(await deleteEndedJobs(service, over.signal)).toEqual([]);
    expect([deleted.length, await streams()]).toEqual([20, [{ id: session.id }]]);
    expect(await deleteEndedJobs(service, signal)).toEqual([]);
    expect([deleted, await streams()]).toEqual([images, []]);
  });

  test('whose images are still to be released keeps their jobs on record until it is purged', async () => {
    const session = await many(['kept', 'stuck']);
    await bench.db
      .updateTable('session_images')
      .set({ released_at: null })
      .where('session_id', '=', session.id)
      .execute();
    const service = serviceOf((job) => (job === 'stuck' ? Promise.reject(new Error('stuck')) : Promise.resolve()));
    expect(await deleteEndedJobs(service, signal)).toEqual([session.name]);
    expect((await bench.rows(session.id)).map(({ job_id }) => job_id)).toEqual(['kept', 'stuck']);
  });
});
