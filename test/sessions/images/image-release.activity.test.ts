/** What a session has left at an image service is ended, whatever trouble that has. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { releaseLeftImages } from '../../../activities/sessions/images/release-images.ts';
import { musterError } from '../../../domain/errors.ts';
import { type ImageBench, openImageBench } from '../../support/images/image-bench.ts';
import { perform } from '../../support/stack/session-machine.ts';
import { sessionNow } from '../../support/temporal/engine-sessions.ts';

let bench: ImageBench;
beforeAll(async () => {
  bench = await openImageBench();
});
beforeEach(() => bench.reset());
afterAll(() => bench?.close());

const keysOf = (session: string) => [...bench.service.keys.values()].filter(({ name }) => name === `cfs_${session}`);

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
  expect(keysOf(session.name)).toEqual([]);
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
  expect(keysOf(session.name)).toEqual([]);
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

test('deletes what it knows also while the store of secrets is away', async () => {
  const one = bench.worker();
  const { session, ref } = await bench.planned(one);
  await bench.opened(one, ref);
  const { read } = one.deps.imageKeys;
  one.deps.imageKeys.read = async () => {
    throw musterError('secret_store_unavailable', 'it does not answer');
  };
  const release = () => perform(() => one.activities.releaseImages({ sessionId: session.id }));
  await expect(release()).rejects.toMatchObject({ code: 'secret_store_unavailable' });
  expect([bench.jobsOf(session.name), keysOf(session.name)]).toEqual([[], []]);
  expect((await bench.rows(session.id))[0]?.released_at).toBeNull();
  one.deps.imageKeys.read = read;
  await release();
  expect(await one.secrets.list()).toEqual([]);
  expect((await bench.rows(session.id))[0]?.released_at).not.toBeNull();
});

test('waits for a key that may still appear, and finds it', async () => {
  const one = bench.worker();
  const session = await bench.imageSession([bench.service.addImage('base')]);
  const sessionId = session.id;
  await perform(() => one.activities.planImages({ sessionId }));
  bench.service.trouble = (method, path) => {
    return method === 'POST' && path === '/public-keys' ? { kind: 'status', status: 500 } : null;
  };
  const make = perform(() => one.activities.makeImageKey({ sessionId }));
  await expect(make).rejects.toMatchObject({ code: 'image_service_unavailable' });
  await perform(() => one.activities.releaseImages({ sessionId }));
  expect((await bench.rows(sessionId))[0]?.released_at).toBeNull();
  const pair = await one.deps.imageKeys.read(sessionId);
  bench.service.keys.set('late', { id: 'late', name: `cfs_${session.name}`, public_key: pair?.publicKey ?? '' });
  await bench.movedBack(sessionId, 61);
  await perform(() => one.activities.releaseImages({ sessionId }));
  expect([keysOf(session.name), await one.secrets.list()]).toEqual([[], []]);
  expect((await bench.rows(sessionId))[0]?.released_at).not.toBeNull();
});

test('waits for the second job of an image that was asked for twice; for one that was answered at once it does not', async () => {
  const one = bench.worker();
  const { session, ref } = await bench.planned(one);
  bench.service.trouble = (method, path) => {
    return method === 'POST' && path === '/jobs' ? { kind: 'status', status: 500 } : null;
  };
  await expect(perform(() => one.activities.openImage(ref))).rejects.toMatchObject({
    code: 'image_service_unavailable',
  });
  bench.service.trouble = () => null;
  await bench.opened(one, ref);
  const [job] = bench.jobsOf(session.name);
  const release = () => perform(() => one.activities.releaseImages({ sessionId: session.id }));
  await release();
  expect(bench.jobsOf(session.name)).toEqual([]);
  expect((await bench.rows(session.id))[0]?.released_at).toBeNull();
  if (job) bench.service.jobs.set('late', { ...job, id: 'late' });
  await release();
  expect(bench.jobsOf(session.name)).toEqual([]);
  expect((await bench.rows(session.id))[0]?.released_at).not.toBeNull();

  const other = await bench.planned(one);
  await bench.opened(one, other.ref);
  await perform(() => one.activities.releaseImages({ sessionId: other.session.id }));
  expect((await bench.rows(other.session.id))[0]?.released_at).not.toBeNull();
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

test('records a new image that is ready when the session is cancelled, and deletes the job of one that is not', async () => {
  const one = bench.worker();
  const { session, refs } = await bench.plannedPair(one);
  for (const ref of refs) {
    await bench.opened(one, ref);
    await expect(perform(() => one.activities.finishImage({ ...ref, fault: null }))).rejects.toMatchObject({
      type: 'image_not_ready',
    });
  }
  const [ready, other] = bench.jobsOf(session.name);
  if (ready === undefined || other === undefined) throw new Error('two jobs were made');
  bench.service.complete(ready);
  other.status = 'packaging_artifacts';
  // A look that fails deletes nothing.
  bench.service.trouble = (method) => (method === 'GET' ? { kind: 'status', status: 500 } : null);
  const release = () => perform(() => one.activities.releaseImages({ sessionId: session.id }));
  await expect(release()).rejects.toMatchObject({ code: 'image_service_unavailable' });
  expect(bench.jobsOf(session.name)).toHaveLength(2);
  bench.service.trouble = () => null;
  await release();
  await release();
  expect(bench.jobsOf(session.name).map(({ id }) => id)).toEqual([ready.id]);
  const artifact = {
    image_id: ready.artifact_id,
    result_id: ready.resultant_image_id,
    type: 'ims_customized_image',
  };
  expect((await sessionNow(bench.db, session.id)).artifacts).toEqual([artifact]);
  const states = (await bench.rows(session.id)).map(({ image_id, state }) => [image_id === ready.artifact_id, state]);
  expect(states.sort()).toEqual([
    [false, 'dropped'],
    [true, 'customized'],
  ]);
});
