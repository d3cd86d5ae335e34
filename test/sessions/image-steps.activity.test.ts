/** What a session does at an image service, step by step, with the troubles that such a service has. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createImageActivities } from '../../activities/sessions/image-activities.ts';
import type { ImageDependencies } from '../../activities/sessions/image-ports.ts';
import { releaseLeftImages } from '../../activities/sessions/release-images.ts';
import { createImageKeys } from '../../control/sessions/image-keys.ts';
import { runIdOf } from '../../domain/runs/run-id.ts';
import { createHttpImageService } from '../../drivers/image-service/http-image-service.ts';
import { listSessionImages } from '../../store/session-images.ts';
import { makeSession, sessionNow, snapshotLayer } from '../support/engine-sessions.ts';
import { type FakeImageJob, type FakeImageService, startImageService } from '../support/image-service-server.ts';
import { createMemorySecretStore } from '../support/memory-secret-store.ts';
import { perform } from '../support/session-machine.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

let database: TestDatabase;
let service: FakeImageService;
beforeAll(async () => {
  [database, service] = await Promise.all([createTestDatabase(), startImageService()]);
});
beforeEach(() => {
  service.trouble = () => null;
  service.begin = (job) => {
    job.status = 'waiting_on_user';
  };
});
afterAll(async () => {
  await service.close();
  await database.close();
});

/** A worker with its secrets and a shell that does what `answer` says; `commands` are those that arrived. */
function worker(given: Partial<ImageDependencies> = {}) {
  const commands: string[] = [];
  const secrets = createMemorySecretStore();
  let keys = 0;
  const deps: ImageDependencies = {
    db: database.db,
    imageService: createHttpImageService({ url: service.url, timeoutMs: 1_000 }),
    imageShells: {
      run: async ({ command, privateKey }) => {
        commands.push(`${privateKey}: ${command}`);
        return null;
      },
    },
    imageKeys: createImageKeys({
      secrets,
      makeKeyPair: async (comment) => {
        keys += 1;
        return { privateKey: `private${keys}`, publicKey: `ssh-ed25519 key${keys}${Math.random()} ${comment}` };
      },
    }),
    imageWaitSeconds: 60,
    ...given,
  };
  return { deps, commands, secrets, activities: createImageActivities(deps) };
}

async function imageSession(images: string[], given: Parameters<typeof makeSession>[1] = {}) {
  const groups = [{ name: 'g', members: images }];
  const session = await makeSession(database.db, {
    target: { definition: 'image', groups, image_map: null },
    ...given,
  });
  await database.db
    .updateTable('sessions')
    .set({ stage: 'admitted', status: 'running' })
    .where('id', '=', session.id)
    .execute();
  return session;
}

const rows = (sessionId: string) => listSessionImages(database.db, sessionId);
const jobsOf = (name: string): FakeImageJob[] =>
  [...service.jobs.values()].filter((job) => job.ssh_containers[0]?.name === name);

/** A session whose one image is planned, with its key. */
async function planned(one: ReturnType<typeof worker>, given: Parameters<typeof makeSession>[1] = {}) {
  const image = service.addImage('base');
  const session = await imageSession([image], given);
  await perform(() => one.activities.planImages({ sessionId: session.id }));
  await perform(() => one.activities.makeImageKey({ sessionId: session.id }));
  return { session, image, ref: { sessionId: session.id, image } };
}

/** A session whose two images are planned, with its key. */
async function plannedPair(one: ReturnType<typeof worker>) {
  const images = [service.addImage('one'), service.addImage('two')] as const;
  const session = await imageSession([...images]);
  await perform(() => one.activities.planImages({ sessionId: session.id }));
  await perform(() => one.activities.makeImageKey({ sessionId: session.id }));
  const refOf = (image: string) => ({ sessionId: session.id, image });
  return { session, refs: [refOf(images[0]), refOf(images[1])] as const };
}

/** Makes everything that the images of a session have on record so much older. */
async function movedBack(sessionId: string, seconds: number): Promise<void> {
  for (const { image_id, started_at, finishing_at, updated_at } of await rows(sessionId)) {
    const earlier = (time: Date | null) => (time === null ? null : new Date(time.getTime() - seconds * 1_000));
    await database.db
      .updateTable('session_images')
      .set({
        started_at: earlier(started_at),
        finishing_at: earlier(finishing_at),
        updated_at: new Date(updated_at.getTime() - seconds * 1_000),
      })
      .where('session_id', '=', sessionId)
      .where('image_id', '=', image_id)
      .execute();
  }
}

/** Opens an image as the workflow does, without its pauses. */
async function opened(one: ReturnType<typeof worker>, ref: { sessionId: string; image: string }): Promise<void> {
  for (let tries = 0; tries < 5; tries += 1) {
    const failure = await perform(() => one.activities.openImage(ref)).then(
      () => null,
      (error: { type?: string }) => error,
    );
    if (failure === null) return;
    if (failure.type !== 'image_not_ready') throw failure;
  }
  throw new Error('the image does not open');
}

describe('planning', () => {
  test('names the results; repeating it changes nothing', async () => {
    const { activities } = worker();
    const [a, b] = [service.addImage('one'), service.addImage('two')];
    const session = await imageSession([a, b, a], {
      target: {
        definition: 'image',
        groups: [{ name: 'g', members: [a, b, a] }],
        image_map: [{ source_id: b, result_name: 'mine' }],
      },
    });
    for (let times = 0; times < 2; times += 1) {
      const plan = await perform(() => activities.planImages({ sessionId: session.id }));
      expect(plan).toEqual({ images: [a, b], waitSeconds: 60 });
    }
    expect((await rows(session.id)).map((row) => row.result_name)).toEqual([`one_cfs_${session.name}`, 'mine']);
  });

  test.each([
    ['image_unknown', {}],
    ['image_target_unsupported', { imageService: null }],
  ])('fails for good with %s', async (code, given) => {
    const session = await imageSession(['5e0c2b4e-2f0a-4d57-9f3e-0f6a3c6f0d11']);
    const work = perform(() => worker(given).activities.planImages({ sessionId: session.id }));
    await expect(work).rejects.toMatchObject({ code });
    expect(await sessionNow(database.db, session.id)).toMatchObject({ phase: 'images', reason: code });
  });
});

describe('the key', () => {
  test('is made once for a session, though the answer was lost', async () => {
    const one = worker();
    const image = service.addImage('base');
    const session = await imageSession([image]);
    await perform(() => one.activities.planImages({ sessionId: session.id }));
    service.trouble = (method, path) => (method === 'POST' && path === '/public-keys' ? { kind: 'lost' } : null);
    const lost = perform(() => one.activities.makeImageKey({ sessionId: session.id }));
    await expect(lost).rejects.toMatchObject({ code: 'image_service_unavailable' });
    service.trouble = () => null;
    await perform(() => one.activities.makeImageKey({ sessionId: session.id }));
    const ours = [...service.keys.values()].filter(({ name }) => name === `cfs_${session.name}`);
    expect(ours).toHaveLength(1);
    expect((await rows(session.id))[0]?.public_key_id).toBe(ours[0]?.id);
    await perform(() => one.activities.removeImageKey({ sessionId: session.id }));
    expect(service.keys.has(ours[0]?.id ?? '')).toBe(false);
  });
});

describe('opening an image', () => {
  test('makes its job, waits for its shell, tries to log in with the key of the session', async () => {
    let problem: string | null = 'Connection refused';
    const commands: string[] = [];
    const run = async ({ command }: { command: string }) => {
      commands.push(command);
      return problem;
    };
    const one = worker({ imageShells: { run } });
    const layers = [snapshotLayer(0), snapshotLayer(1, { require_dkms: true })];
    const snapshot = { layers, additional_inventory: null, debug_playbook: null, ansible_config: 'c' };
    const { session, ref } = await planned(one, { snapshot });
    service.begin = (job) => {
      job.status = 'fetching_image';
    };
    const open = () => perform(() => one.activities.openImage(ref));
    await expect(open()).rejects.toMatchObject({ type: 'image_not_ready', message: 'creating' });
    await expect(open()).rejects.toMatchObject({ type: 'image_not_ready', message: 'fetching_image' });
    expect((await sessionNow(database.db, session.id)).message).toBe(
      `0 of 1 images open; base_cfs_${session.name}: fetching_image`,
    );
    const [job] = jobsOf(session.name);
    expect(job).toMatchObject({ require_dkms: true, image_root_archive_name: `base_cfs_${session.name}` });
    if (job) job.status = 'waiting_on_user';
    await expect(open()).rejects.toMatchObject({ message: expect.stringContaining('Connection refused') });
    problem = null;
    await open();
    await open();
    expect(commands).toEqual(['true', 'true']);
    expect(jobsOf(session.name)).toHaveLength(1);
    expect((await rows(session.id))[0]).toMatchObject({ state: 'open', host: '127.0.0.1', port: 9, job_id: job?.id });
    expect(await sessionNow(database.db, session.id)).toMatchObject({ ims_job: job?.id, ims_jobs: [job?.id] });
  });

  test('a lost answer makes no second job', async () => {
    const one = worker();
    const { session, ref } = await planned(one);
    service.trouble = (method, path) => (method === 'POST' && path === '/jobs' ? { kind: 'lost' } : null);
    const lost = perform(() => one.activities.openImage(ref));
    await expect(lost).rejects.toMatchObject({ code: 'image_service_unavailable' });
    expect(jobsOf(session.name)).toHaveLength(1);
    service.trouble = () => null;
    await opened(one, ref);
    expect(jobsOf(session.name)).toHaveLength(1);
    expect((await rows(session.id))[0]?.job_id).toBe(jobsOf(session.name)[0]?.id);
  });

  test('the job of a former session of the same name is not taken for ours', async () => {
    const one = worker();
    const { session, ref, image } = await planned(one);
    const former = await one.deps.imageService?.createPublicKey(
      `cfs_${session.name}`,
      'ssh-ed25519 old',
      new AbortController().signal,
    );
    await one.deps.imageService?.createJob(
      {
        imageId: image,
        resultName: `base_cfs_${session.name}`,
        publicKeyId: former ?? '',
        shellName: session.name,
        requireDkms: false,
      },
      new AbortController().signal,
    );
    await database.db
      .updateTable('session_images')
      .set({ posted: true })
      .where('session_id', '=', session.id)
      .execute();
    await opened(one, ref);
    expect(jobsOf(session.name)).toHaveLength(2);
    const theirs = jobsOf(session.name).find((job) => job.public_key_id === former);
    await perform(() => one.activities.releaseImages({ sessionId: session.id }));
    expect(jobsOf(session.name)).toEqual([theirs]);
  });

  test.each(['error', 'success'])('a job that ends as %s fails the session for good', async (status) => {
    const one = worker();
    const { session, ref } = await planned(one);
    service.begin = (job) => {
      job.status = status;
    };
    await expect(opened(one, ref)).rejects.toMatchObject({ code: 'image_job_failed' });
    expect((await rows(session.id))[0]).toMatchObject({ state: 'failed' });
  });

  test('the wait has a limit, which names what it waited for; a service that is away counts', async () => {
    const one = worker({ imageWaitSeconds: 1 });
    const { session, ref } = await planned(one);
    await database.db
      .updateTable('session_images')
      .set({ started_at: new Date(Date.now() - 2_000) })
      .where('session_id', '=', session.id)
      .execute();
    service.trouble = () => ({ kind: 'status', status: 503 });
    await expect(perform(() => one.activities.openImage(ref))).rejects.toMatchObject({
      code: 'image_wait_timeout',
      message: expect.stringContaining('503'),
    });
  });

  test('with several images the limit counts from the last news of any of them', async () => {
    const one = worker({ imageWaitSeconds: 1_800 });
    service.begin = () => undefined;
    const { session, refs } = await plannedPair(one);
    const [first, second] = refs.map((ref) => () => perform(() => one.activities.openImage(ref)));
    for (let times = 0; times < 2; times += 1) {
      for (const open of [first, second]) await expect(open?.()).rejects.toMatchObject({ type: 'image_not_ready' });
    }
    await movedBack(session.id, 2_400);
    const [job] = jobsOf(session.name);
    if (job) job.status = 'waiting_on_user';
    await first?.();
    await expect(second?.()).rejects.toMatchObject({ type: 'image_not_ready' });
    expect((await rows(session.id)).map(({ state }) => state)).toEqual(['open', 'preparing']);
    await movedBack(session.id, 1_000);
    await expect(second?.()).rejects.toMatchObject({ type: 'image_not_ready' });
    await database.db
      .updateTable('session_images')
      .set({ updated_at: new Date(Date.now() - 1_801_000) })
      .where('session_id', '=', session.id)
      .execute();
    await expect(second?.()).rejects.toMatchObject({
      code: 'image_wait_timeout',
      message: expect.stringContaining('no login and nothing new for 30 min (MUSTER_IMS_WAIT): creating'),
    });
  });

  test('news prolong the wait to so long for each image at most', async () => {
    const one = worker({ imageWaitSeconds: 60 });
    service.begin = () => undefined;
    const { session, refs } = await plannedPair(one);
    const open = () => perform(() => one.activities.openImage(refs[0]));
    await expect(open()).rejects.toMatchObject({ type: 'image_not_ready' });
    const [job] = jobsOf(session.name);
    for (const [seconds, status, word] of [
      [119, 'fetching_image', 'image_not_ready'],
      [2, 'building_image', 'image_wait_timeout'],
    ] as const) {
      await movedBack(session.id, seconds);
      if (job) job.status = status;
      const failure = await open().catch((error: { type?: string; code?: string }) => error);
      expect(failure?.code ?? failure?.type).toBe(word);
    }
  });
});

describe('finishing', () => {
  const open = async (one: ReturnType<typeof worker>) => {
    const made = await planned(one);
    await opened(one, made.ref);
    one.commands.length = 0;
    const [job] = jobsOf(made.session.name);
    if (job === undefined) throw new Error('no job');
    return { ...made, job };
  };

  test('tells a good image once, waits for the new one, records it once', async () => {
    const one = worker();
    const { session, image, ref, job } = await open(one);
    const finish = () => perform(() => one.activities.finishImage({ ...ref, fault: null }));
    await expect(finish()).rejects.toMatchObject({ type: 'image_not_ready' });
    await expect(finish()).rejects.toMatchObject({ type: 'image_not_ready' });
    expect(one.commands).toEqual(['private1: touch /tmp/complete']);
    job.status = 'packaging_artifacts';
    job.resultant_image_id = 'new-image';
    const done = { resultName: `base_cfs_${session.name}`, resultId: 'new-image', message: '' };
    expect(await finish()).toEqual(done);
    expect(await finish()).toEqual(done);
    const artifact = { image_id: image, result_id: 'new-image', type: 'ims_customized_image' };
    expect((await sessionNow(database.db, session.id)).artifacts).toEqual([artifact]);
    await perform(() => one.activities.releaseImages({ sessionId: session.id }));
    expect(service.jobs.has(job.id)).toBe(true);
    expect((await rows(session.id))[0]).toMatchObject({ state: 'customized', released_at: expect.any(Date) });
  });

  test('tells it where its shell is now, which may have been opened again elsewhere', async () => {
    const asked: string[] = [];
    const run: ImageDependencies['imageShells']['run'] = async ({ host, port, command }) => {
      asked.push(`${host}:${port} ${command}`);
      return null;
    };
    const one = worker({ imageShells: { run } });
    const { ref, job } = await open(one);
    for (const shell of job.ssh_containers) shell.connection_info['cluster.local'] = { host: '10.0.0.7', port: 22_200 };
    const finish = perform(() => one.activities.finishImage({ ...ref, fault: null }));
    await expect(finish).rejects.toMatchObject({ type: 'image_not_ready' });
    expect(asked.at(-1)).toBe('10.0.0.7:22200 touch /tmp/complete');
  });

  test('tells a bad one that it failed, and says why', async () => {
    const one = worker();
    const { session, ref, job } = await open(one);
    const finish = () => perform(() => one.activities.finishImage({ ...ref, fault: 'layer 0 failed' }));
    await expect(finish()).rejects.toMatchObject({ type: 'image_not_ready' });
    expect(one.commands).toEqual(['private1: touch /tmp/failed']);
    job.status = 'error';
    expect(await finish()).toMatchObject({ resultId: null, message: 'layer 0 failed' });
    expect((await sessionNow(database.db, session.id)).artifacts).toEqual([]);
    await perform(() => one.activities.releaseImages({ sessionId: session.id }));
    expect(jobsOf(session.name)).toEqual([]);
  });

  test.each([
    ['error', 'its job ended in error'],
    ['success', 'its job ended without an image'],
  ])('packaging that ends as %s fails this image alone', async (status, message) => {
    const one = worker();
    const { ref, job } = await open(one);
    job.status = status;
    expect(await perform(() => one.activities.finishImage({ ...ref, fault: null }))).toMatchObject({
      resultId: null,
      message,
    });
  });

  test('a job that is gone, and a wait that is over, fail this image alone', async () => {
    const one = worker();
    const gone = await open(one);
    service.jobs.delete(gone.job.id);
    expect(await perform(() => one.activities.finishImage({ ...gone.ref, fault: null }))).toMatchObject({
      message: 'its job at the image service is gone',
    });
    const late = await open(one);
    await database.db
      .updateTable('session_images')
      .set({ finishing_at: new Date(0) })
      .where('session_id', '=', late.session.id)
      .execute();
    expect(await perform(() => one.activities.finishImage({ ...late.ref, fault: null }))).toMatchObject({
      resultId: null,
      message: expect.stringContaining('no image within 1 min'),
    });
  });

  test('a new image of another one is news for those whose turn comes later', async () => {
    const one = worker();
    const { session, refs } = await plannedPair(one);
    for (const ref of refs) await opened(one, ref);
    const [first, second] = refs.map((ref) => () => perform(() => one.activities.finishImage({ ...ref, fault: null })));
    for (const finish of [first, second, first, second]) {
      await expect(finish?.()).rejects.toMatchObject({ type: 'image_not_ready' });
    }
    await movedBack(session.id, 90);
    const [job] = jobsOf(session.name);
    if (job) job.resultant_image_id = 'new-image';
    expect(await first?.()).toMatchObject({ resultId: 'new-image' });
    await expect(second?.()).rejects.toMatchObject({ type: 'image_not_ready' });
    await movedBack(session.id, 40);
    expect(await second?.()).toMatchObject({
      resultId: null,
      message: expect.stringContaining('no image within 2 min'),
    });
  });

  test('results of hosts say which images are good', async () => {
    const one = worker();
    const { session, image } = await open(one);
    const judge = (exitCode?: number | null) =>
      perform(() =>
        one.activities.judgeImages({ sessionId: session.id, ...(exitCode === undefined ? {} : { exitCode }) }),
      );
    expect(await judge()).toEqual({ [image]: 'layer 0 did not run' });
    expect(await judge(0)).toEqual({});
    expect(await judge(2)).toEqual({ [image]: 'the layers ended with exit status 2' });
    const id = runIdOf(session.id, 1, 0);
    const run = {
      id,
      session_id: session.id,
      stream_id: session.id,
      layer: 0,
      attempt: 1,
      host: 'm',
      state: 'ended' as const,
    };
    await database.db
      .insertInto('runs')
      .values({ ...run, exit_code: 2, created_at: new Date() })
      .execute();
    expect(await judge()).toEqual({ [image]: 'layer 0 failed before it came to this image' });
    const counts = { ok: 1, changed: 0, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };
    const result = { run_id: id, session_id: session.id, layer: 0, attempt: 1, host: image, recorded: false };
    await database.db
      .insertInto('host_results')
      .values({ ...result, ...counts, status: 'applied', taken_as: null })
      .execute();
    expect(await judge()).toEqual({});
  });
});

describe('the release', () => {
  test('deletes jobs of lost answers too, keys and secret, and is harmless to repeat', async () => {
    const one = worker();
    const { session, ref } = await planned(one);
    service.trouble = (method, path) => (method === 'POST' && path === '/jobs' ? { kind: 'lost' } : null);
    await perform(() => one.activities.openImage(ref)).catch(() => undefined);
    service.trouble = () => null;
    expect(jobsOf(session.name)).toHaveLength(1);
    await perform(() => one.activities.releaseImages({ sessionId: session.id }));
    await perform(() => one.activities.releaseImages({ sessionId: session.id }));
    expect(jobsOf(session.name)).toEqual([]);
    expect([...service.keys.values()].filter(({ name }) => name === `cfs_${session.name}`)).toEqual([]);
    expect(await one.secrets.list()).toEqual([]);
    expect((await rows(session.id))[0]?.state).toBe('dropped');
  });

  test('tries everything, and what it cannot end now the sweep ends later', async () => {
    const one = worker();
    const { session, ref } = await planned(one);
    await opened(one, ref);
    service.trouble = (method) => (method === 'DELETE' ? { kind: 'status', status: 500 } : null);
    const release = perform(() => one.activities.releaseImages({ sessionId: session.id }));
    await expect(release).rejects.toMatchObject({ code: 'image_service_unavailable' });
    const { signal } = new AbortController();
    expect(await releaseLeftImages(one.deps, signal)).toEqual([]);
    await database.db.updateTable('sessions').set({ stage: 'ended' }).where('id', '=', session.id).execute();
    expect(await releaseLeftImages(one.deps, signal)).toContain(session.name);
    service.trouble = () => null;
    expect(await releaseLeftImages(one.deps, signal)).toEqual([]);
    expect(jobsOf(session.name)).toEqual([]);
    expect(await one.secrets.list()).toEqual([]);
  });
});
