/** Tries that a worker goes on with though the engine has given it up: cut off from Temporal, it does not know. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { releaseLeftImages } from '../../../activities/sessions/images/release-images.ts';
import { type ImageBench, openImageBench } from '../../support/images/image-bench.ts';
import { perform } from '../../support/stack/session-machine.ts';

let bench: ImageBench;
beforeAll(async () => {
  bench = await openImageBench();
});
beforeEach(() => bench.reset());
afterAll(() => bench?.close());

const { signal } = new AbortController();
const end = (id: string) => bench.db.updateTable('sessions').set({ stage: 'ended' }).where('id', '=', id).execute();

describe('a late try of a session whose images were released', () => {
  test('asks for no job', async () => {
    const one = bench.worker();
    const { session, ref } = await bench.planned(one);
    await perform(() => one.activities.releaseImages({ sessionId: session.id }));
    await end(session.id);
    await expect(perform(() => one.activities.openImage(ref))).rejects.toMatchObject({ code: 'cancelled' });
    expect(bench.jobsOf(session.name)).toEqual([]);
    expect((await bench.rows(session.id))[0]).toMatchObject({ state: 'dropped', posted: false });
  });

  test('leaves no job behind whose making it had begun', async () => {
    const one = bench.worker();
    const { session, ref } = await bench.planned(one);
    const held = bench.service.gate.hold('before', ({ method, path }) => method === 'POST' && path === '/jobs');
    const late = perform(() => one.activities.openImage(ref));
    await held.reached;
    await bench.movedBack(session.id, 120);
    await perform(() => one.activities.releaseImages({ sessionId: session.id }));
    await end(session.id);
    expect((await bench.rows(session.id))[0]?.released_at).not.toBeNull();
    held.letGo();
    await late.catch(() => undefined);
    await releaseLeftImages(one.deps, signal);
    expect(bench.jobsOf(session.name)).toEqual([]);
    expect((await bench.rows(session.id))[0]).toMatchObject({ state: 'dropped', released_at: expect.any(Date) });
  });

  test('makes no key', async () => {
    const one = bench.worker();
    const { session } = await bench.planned(one);
    await perform(() => one.activities.releaseImages({ sessionId: session.id }));
    await end(session.id);
    const late = perform(() => one.activities.makeImageKey({ sessionId: session.id }));
    await expect(late).rejects.toMatchObject({ code: 'cancelled' });
    expect(await one.secrets.list()).toEqual([]);
  });

  test('leaves no key behind whose making it had begun', async () => {
    const one = bench.worker();
    const { session } = await bench.planned(one);
    await perform(() => one.activities.removeImageKey({ sessionId: session.id }));
    const held = bench.service.gate.hold('before', ({ method, path }) => method === 'POST' && path === '/public-keys');
    const late = perform(() => one.activities.makeImageKey({ sessionId: session.id }));
    await held.reached;
    await perform(() => one.activities.releaseImages({ sessionId: session.id }));
    await end(session.id);
    held.letGo();
    await late.catch(() => undefined);
    await releaseLeftImages(one.deps, signal);
    expect([...bench.service.keys.values()].filter(({ name }) => name === `cfs_${session.name}`)).toEqual([]);
    expect(await one.secrets.list()).toEqual([]);
  });
});

test('a late try takes nothing back of what another has finished', async () => {
  const told = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  let commands = 0;
  const one = bench.worker({
    imageShells: {
      run: async ({ command }) => {
        if (!command.includes('complete')) return null;
        commands += 1;
        if (commands > 1) return null;
        told.resolve();
        await goOn.promise;
        return null;
      },
    },
  });
  const { session, ref } = await bench.planned(one);
  await bench.opened(one, ref);
  const finish = () => perform(() => one.activities.finishImage({ ...ref, fault: null }));
  const late = finish();
  await told.promise;
  await finish().catch(() => undefined);
  for (const job of bench.jobsOf(session.name)) bench.service.complete(job);
  expect(await finish()).toMatchObject({ resultId: expect.any(String) });
  goOn.resolve();
  await late.catch(() => undefined);
  expect((await bench.rows(session.id))[0]).toMatchObject({ state: 'customized', message: '' });
  await perform(() => one.activities.releaseImages({ sessionId: session.id }));
  expect((await bench.rows(session.id))[0]).toMatchObject({ state: 'customized', result_id: expect.any(String) });
});
