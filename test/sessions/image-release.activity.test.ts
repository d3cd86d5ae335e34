/** What a session has left at an image service is ended, whatever trouble that has. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { releaseLeftImages } from '../../activities/sessions/release-images.ts';
import { type ImageBench, openImageBench } from '../support/image-bench.ts';
import { perform } from '../support/session-machine.ts';

let bench: ImageBench;
beforeAll(async () => {
  bench = await openImageBench();
});
beforeEach(() => bench.reset());
afterAll(() => bench?.close());

test('deletes jobs of lost answers too, keys and secret, and is harmless to repeat', async () => {
  const one = bench.worker();
  const { session, ref } = await bench.planned(one);
  bench.service.trouble = (method, path) => (method === 'POST' && path === '/jobs' ? { kind: 'lost' } : null);
  await perform(() => one.activities.openImage(ref)).catch(() => undefined);
  bench.service.trouble = () => null;
  expect(bench.jobsOf(session.name)).toHaveLength(1);
  await perform(() => one.activities.releaseImages({ sessionId: session.id }));
  await perform(() => one.activities.releaseImages({ sessionId: session.id }));
  expect(bench.jobsOf(session.name)).toEqual([]);
  expect([...bench.service.keys.values()].filter(({ name }) => name === `cfs_${session.name}`)).toEqual([]);
  expect(await one.secrets.list()).toEqual([]);
  expect((await bench.rows(session.id))[0]?.state).toBe('dropped');
});

test('deletes what it knows also while the service lists nothing', async () => {
  const one = bench.worker();
  const { session, ref } = await bench.planned(one);
  await bench.opened(one, ref);
  bench.service.trouble = (method, path) => {
    const lists = method === 'GET' && ['/jobs', '/public-keys'].includes(path);
    return lists ? { kind: 'status', status: 500 } : null;
  };
  const release = perform(() => one.activities.releaseImages({ sessionId: session.id }));
  await expect(release).rejects.toMatchObject({ code: 'image_service_unavailable' });
  expect(bench.jobsOf(session.name)).toEqual([]);
  expect([...bench.service.keys.values()].filter(({ name }) => name === `cfs_${session.name}`)).toEqual([]);
  expect((await bench.rows(session.id))[0]?.released_at).toBeNull();
});

test('waits for a job that may still appear, from when it was asked for last', async () => {
  const one = bench.worker();
  const { session, ref } = await bench.planned(one);
  bench.service.trouble = (method, path) => {
    return method === 'POST' && path === '/jobs' ? { kind: 'status', status: 500 } : null;
  };
  const open = () => perform(() => one.activities.openImage(ref));
  await expect(open()).rejects.toMatchObject({ code: 'image_service_unavailable' });
  await bench.movedBack(session.id, 120);
  await expect(open()).rejects.toMatchObject({ code: 'image_wait_timeout' });
  await perform(() => one.activities.releaseImages({ sessionId: session.id }));
  expect((await bench.rows(session.id))[0]?.released_at).toBeNull();
  await bench.movedBack(session.id, 61);
  await perform(() => one.activities.releaseImages({ sessionId: session.id }));
  expect((await bench.rows(session.id))[0]?.released_at).not.toBeNull();
});

test('tries everything, and what it cannot end now the sweep ends later', async () => {
  const one = bench.worker();
  const { session, ref } = await bench.planned(one);
  await bench.opened(one, ref);
  bench.service.trouble = (method) => (method === 'DELETE' ? { kind: 'status', status: 500 } : null);
  const release = perform(() => one.activities.releaseImages({ sessionId: session.id }));
  await expect(release).rejects.toMatchObject({ code: 'image_service_unavailable' });
  const { signal } = new AbortController();
  expect(await releaseLeftImages(one.deps, signal)).toEqual([]);
  await bench.db.updateTable('sessions').set({ stage: 'ended' }).where('id', '=', session.id).execute();
  expect(await releaseLeftImages(one.deps, signal)).toContain(session.name);
  bench.service.trouble = () => null;
  expect(await releaseLeftImages(one.deps, signal)).toEqual([]);
  expect(bench.jobsOf(session.name)).toEqual([]);
  expect(await one.secrets.list()).toEqual([]);
});
