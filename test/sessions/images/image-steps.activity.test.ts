/** What a session does at an image service, step by step, with the troubles that such a service has. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { ImageDependencies } from '../../../activities/sessions/image-ports.ts';
import { musterError } from '../../../domain/errors.ts';
import { runIdOf } from '../../../domain/sessions/run-id.ts';
import { type ImageBench, type ImageWorker, openImageBench } from '../../support/images/image-bench.ts';
import { activityEnvironment, perform } from '../../support/stack/session-machine.ts';
import { sessionNow, snapshotLayer } from '../../support/temporal/engine-sessions.ts';
import { addRun } from '../session-fixtures.ts';

let bench: ImageBench;
beforeAll(async () => {
  bench = await openImageBench();
});
beforeEach(() => bench.reset());
afterAll(() => bench?.close());

describe('planning', () => {
  test('names the results; repeating it changes nothing', async () => {
    const { activities } = bench.worker();
    const [a, b] = [bench.service.addImage('one'), bench.service.addImage('two')];
    const session = await bench.imageSession([a, b, a], {
      target: {
        definition: 'image',
        groups: [{ name: 'g', members: [a, b, a] }],
        image_map: [{ source_id: b, result_name: 'mine' }],
      },
    });
    for (let times = 0; times < 2; times += 1) {
      const plan = await perform(() => activities.planImages({ sessionId: session.id }));
      expect(plan).toEqual({ images: [a, b], waitSeconds: 60, queueSeconds: 3_600 });
    }
    expect((await bench.rows(session.id)).map((row) => row.result_name)).toEqual([`one_cfs_${session.name}`, 'mine']);
  });

  test('an image in two spellings has one job, which the service is asked for in its own', async () => {
    const one = bench.worker();
    const id = bench.service.addImage('base');
    const given = id.toUpperCase().replaceAll('-', '');
    const session = await bench.imageSession([given, id]);
    const sessionId = session.id;
    expect(await perform(() => one.activities.planImages({ sessionId }))).toMatchObject({ images: [given] });
    await perform(() => one.activities.makeImageKey({ sessionId }));
    await bench.opened(one, { sessionId, image: given });
    expect(bench.jobsOf(session.name).map(({ artifact_id }) => artifact_id)).toEqual([id]);
    expect(await bench.rows(sessionId)).toMatchObject([{ image_id: given, state: 'open' }]);
  });

  test.each([
    ['image_unknown', {}, 'has no image', 'g'],
    ['image_target_unsupported', { imageService: null }, 'set MUSTER_IMS_URL, or MUSTER_IMAGE_SERVICE=1', 'g'],
    ['inventory_invalid', {}, "Group 'web,db' cannot be written", 'web,db'],
  ])('fails for good with %s', async (code, given, says, name) => {
    const members = ['5e0c2b4e-2f0a-4d57-9f3e-0f6a3c6f0d11'];
    const target = { definition: 'image' as const, groups: [{ name, members }], image_map: null };
    const session = await bench.imageSession(members, { target });
    const work = perform(() => bench.worker(given).activities.planImages({ sessionId: session.id }));
    await expect(work).rejects.toMatchObject({ code, detail: expect.stringContaining(says) });
    expect(await sessionNow(bench.db, session.id)).toMatchObject({ phase: 'images', reason: code });
  });
});

describe('the key', () => {
  test('is made once for a session, though the answer was lost', async () => {
    const one = bench.worker();
    const image = bench.service.addImage('base');
    const session = await bench.imageSession([image]);
    await perform(() => one.activities.planImages({ sessionId: session.id }));
    bench.service.trouble = (method, path) => (method === 'POST' && path === '/public-keys' ? { kind: 'lost' } : null);
    const lost = perform(() => one.activities.makeImageKey({ sessionId: session.id }));
    await expect(lost).rejects.toMatchObject({ code: 'image_service_unavailable' });
    bench.service.trouble = () => null;
    await perform(() => one.activities.makeImageKey({ sessionId: session.id }));
    const ours = [...bench.service.keys.values()].filter(({ name }) => name === `cfs_${session.name}`);
    expect(ours).toHaveLength(1);
    expect((await bench.rows(session.id))[0]?.public_key_id).toBe(ours[0]?.id);
    await perform(() => one.activities.removeImageKey({ sessionId: session.id }));
    expect(bench.service.keys.has(ours[0]?.id ?? '')).toBe(false);
  });

  test('is made and removed also where no group has an image', async () => {
    const one = bench.worker();
    const sessionId = (await bench.imageSession([])).id;
    expect(await perform(() => one.activities.planImages({ sessionId }))).toMatchObject({ images: [] });
    const before = bench.service.keys.size;
    await perform(() => one.activities.makeImageKey({ sessionId }));
    expect(bench.service.keys.size).toBe(before + 1);
    await perform(() => one.activities.releaseImages({ sessionId }));
    expect([bench.service.keys.size, await one.secrets.list()]).toEqual([before, []]);
  });

  test.each([
    ['a Job', 'kubernetes', /^waiting for a worker with a cluster to prepare its Job/],
    ['a run on a machine', 'local', /images open/],
  ] as const)(
    'is the last step of %s before the layers, and the record says what comes next',
    async (_, runner, message) => {
      const one = bench.worker();
      const { session, ref } = await bench.planned(one, { muster: { runner } });
      await bench.opened(one, ref);
      bench.service.trouble = (method) => (method === 'DELETE' ? { kind: 'lost' } : null);
      await expect(perform(() => one.activities.removeImageKey({ sessionId: session.id }))).rejects.toThrow();
      bench.service.trouble = () => null;
      // The session goes on all the same.
      expect((await sessionNow(bench.db, session.id)).message).toMatch(message);
    },
  );
});

describe('opening an image', () => {
  test('makes its job, waits for its shell, tries to log in with the key of the session', async () => {
    let problem: string | null = 'Connection refused';
    const commands: string[] = [];
    const run = async ({ command }: { command: string }) => {
      commands.push(command);
      return problem;
    };
    const one = bench.worker({ imageShells: { run } });
    const layers = [snapshotLayer(0), snapshotLayer(1, { require_dkms: true })];
    const snapshot = { layers, additional_inventory: null, debug_playbook: null, ansible_config: 'c' };
    const { session, ref } = await bench.planned(one, { snapshot });
    bench.service.begin = (job) => {
      job.status = 'fetching_image';
    };
    const open = () => perform(() => one.activities.openImage(ref));
    await expect(open()).rejects.toMatchObject({ type: 'image_not_ready', message: 'creating' });
    await expect(open()).rejects.toMatchObject({ type: 'image_not_ready', message: 'fetching_image' });
    expect((await sessionNow(bench.db, session.id)).message).toBe(
      `0 of 1 images open; base_cfs_${session.name}: fetching_image`,
    );
    const [job] = bench.jobsOf(session.name);
    expect(job).toMatchObject({ require_dkms: true, image_root_archive_name: `base_cfs_${session.name}` });
    if (job) job.status = 'waiting_on_user';
    await expect(open()).rejects.toMatchObject({ message: expect.stringContaining('Connection refused') });
    problem = null;
    await open();
    await open();
    expect(commands).toEqual(['true', 'true']);
    expect(bench.jobsOf(session.name)).toHaveLength(1);
    expect((await bench.rows(session.id))[0]).toMatchObject({
      state: 'open',
      host: '127.0.0.1',
      port: 9,
      job_id: job?.id,
    });
    expect(await sessionNow(bench.db, session.id)).toMatchObject({ ims_job: job?.id, ims_jobs: [job?.id] });
  });

  test('a store of secrets that is away is waited for as the service is', async () => {
    const one = bench.worker();
    const { session, ref } = await bench.planned(one);
    let away = true;
    const { read } = one.deps.imageKeys;
    one.deps.imageKeys.read = async (id) => {
      if (away) throw musterError('secret_store_unavailable', 'it does not answer');
      return read(id);
    };
    const open = () => perform(() => one.activities.openImage(ref));
    await expect(open()).rejects.toMatchObject({ type: 'image_not_ready' });
    await expect(open()).rejects.toMatchObject({ code: 'secret_store_unavailable' });
    expect((await bench.rows(session.id))[0]?.state).toBe('preparing');
    away = false;
    await bench.opened(one, ref);
    away = true;
    const finish = () => perform(() => one.activities.finishImage({ ...ref, fault: null }));
    await expect(finish()).rejects.toMatchObject({ code: 'secret_store_unavailable' });
    expect((await bench.rows(session.id))[0]?.state).toBe('open');
    await bench.movedBack(session.id, 61);
    expect(await finish()).toMatchObject({ resultId: null, message: expect.stringContaining('MUSTER_IMS_WAIT') });
  });

  test('of what a service says at length the beginning is kept', async () => {
    const one = bench.worker();
    const { session, ref } = await bench.planned(one);
    bench.service.begin = (job) => {
      job.status = 'error';
      job.message = `no room: ${'trace '.repeat(100_000)}`;
    };
    await perform(() => one.activities.openImage(ref)).catch(() => undefined);
    const finished = await perform(() => one.activities.finishImage({ ...ref, fault: null }));
    expect(finished.message).toContain('its job ended in error: no room: trace');
    expect(finished.message.length).toBeLessThan(1_200);
    expect((await sessionNow(bench.db, session.id)).message.length).toBeLessThan(1_500);
  });

  test('a lost answer makes no second job', async () => {
    const one = bench.worker();
    const { session, ref } = await bench.planned(one);
    bench.service.trouble = (method, path) => (method === 'POST' && path === '/jobs' ? { kind: 'lost' } : null);
    const lost = perform(() => one.activities.openImage(ref));
    await expect(lost).rejects.toMatchObject({ code: 'image_service_unavailable' });
    expect(bench.jobsOf(session.name)).toHaveLength(1);
    bench.service.trouble = () => null;
    await bench.opened(one, ref);
    expect(bench.jobsOf(session.name)).toHaveLength(1);
    expect((await bench.rows(session.id))[0]?.job_id).toBe(bench.jobsOf(session.name)[0]?.id);
  });

  test('the job of a former session of the same name is not taken for ours', async () => {
    const one = bench.worker();
    const { session, ref, image } = await bench.planned(one);
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
    await bench.db.updateTable('session_images').set({ posted: true }).where('session_id', '=', session.id).execute();
    await bench.opened(one, ref);
    expect(bench.jobsOf(session.name)).toHaveLength(2);
    const theirs = bench.jobsOf(session.name).find((job) => job.public_key_id === former);
    await perform(() => one.activities.releaseImages({ sessionId: session.id }));
    expect(bench.jobsOf(session.name)).toEqual([theirs]);
  });

  test.each(['error', 'success'])('a job that ends as %s fails the session for good', async (status) => {
    const one = bench.worker();
    const { session, ref } = await bench.planned(one);
    bench.service.begin = (job) => {
      job.status = status;
    };
    await expect(bench.opened(one, ref)).rejects.toMatchObject({ code: 'image_job_failed' });
    expect((await bench.rows(session.id))[0]).toMatchObject({ state: 'failed' });
  });

  test('the wait has a limit, which names what it waited for; a service that is away counts', async () => {
    const one = bench.worker({ imageWaitSeconds: 1 });
    const { session, ref } = await bench.planned(one);
    await bench.db
      .updateTable('session_images')
      .set({ started_at: new Date(Date.now() - 2_000) })
      .where('session_id', '=', session.id)
      .execute();
    bench.service.trouble = () => ({ kind: 'status', status: 503 });
    await expect(perform(() => one.activities.openImage(ref))).rejects.toMatchObject({
      code: 'image_wait_timeout',
      message: expect.stringContaining('503'),
    });
  });

  test('with several images the limit counts from the last news of any of them', async () => {
    const one = bench.worker({ imageWaitSeconds: 1_800 });
    bench.service.begin = () => undefined;
    const { session, refs } = await bench.plannedPair(one);
    const [first, second] = refs.map((ref) => () => perform(() => one.activities.openImage(ref)));
    for (let times = 0; times < 2; times += 1) {
      for (const open of [first, second]) await expect(open?.()).rejects.toMatchObject({ type: 'image_not_ready' });
    }
    await bench.movedBack(session.id, 2_400);
    const [job] = bench.jobsOf(session.name);
    if (job) job.status = 'waiting_on_user';
    await first?.();
    await expect(second?.()).rejects.toMatchObject({ type: 'image_not_ready' });
    expect((await bench.rows(session.id)).map(({ state }) => state)).toEqual(['open', 'preparing']);
    await bench.movedBack(session.id, 1_000);
    await expect(second?.()).rejects.toMatchObject({ type: 'image_not_ready' });
    await bench.db
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
    const one = bench.worker({ imageWaitSeconds: 60 });
    bench.service.begin = () => undefined;
    const { session, refs } = await bench.plannedPair(one);
    const open = () => perform(() => one.activities.openImage(refs[0]));
    await expect(open()).rejects.toMatchObject({ type: 'image_not_ready' });
    const [job] = bench.jobsOf(session.name);
    for (const [seconds, status, word] of [
      [90, 'fetching_image', 'image_not_ready'],
      [31, 'building_image', 'image_wait_timeout'],
    ] as const) {
      await bench.movedBack(session.id, seconds);
      if (job) job.status = status;
      const failure = await open().catch((error: { type?: string; code?: string }) => error);
      expect(failure?.code ?? failure?.type).toBe(word);
    }
  });
});

describe('finishing', () => {
  const open = async (one: ImageWorker) => {
    const made = await bench.planned(one);
    await bench.opened(one, made.ref);
    one.commands.length = 0;
    const [job] = bench.jobsOf(made.session.name);
    if (job === undefined) throw new Error('no job');
    return { ...made, job };
  };

  test('tells a good image once, waits for the new one, records it once', async () => {
    const one = bench.worker();
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
    expect((await sessionNow(bench.db, session.id)).artifacts).toEqual([artifact]);
    await perform(() => one.activities.releaseImages({ sessionId: session.id }));
    expect(bench.service.jobs.has(job.id)).toBe(true);
    expect((await bench.rows(session.id))[0]).toMatchObject({ state: 'customized', released_at: expect.any(Date) });
  });

  test('tells it where its shell is now, which may have been opened again elsewhere', async () => {
    const asked: string[] = [];
    const run: ImageDependencies['imageShells']['run'] = async ({ host, port, command }) => {
      asked.push(`${host}:${port} ${command}`);
      return null;
    };
    const one = bench.worker({ imageShells: { run } });
    const { ref, job } = await open(one);
    for (const shell of job.ssh_containers) shell.connection_info['cluster.local'] = { host: '10.0.0.7', port: 22_200 };
    const finish = perform(() => one.activities.finishImage({ ...ref, fault: null }));
    await expect(finish).rejects.toMatchObject({ type: 'image_not_ready' });
    expect(asked.at(-1)).toBe('10.0.0.7:22200 touch /tmp/complete');
  });

  test('tells a bad one that it failed, and says why', async () => {
    const one = bench.worker();
    const { session, ref, job } = await open(one);
    const finish = () => perform(() => one.activities.finishImage({ ...ref, fault: 'layer 0 failed' }));
    await expect(finish()).rejects.toMatchObject({ type: 'image_not_ready' });
    expect(one.commands).toEqual(['private1: touch /tmp/failed']);
    job.status = 'error';
    expect(await finish()).toMatchObject({ resultId: null, message: 'layer 0 failed' });
    expect((await sessionNow(bench.db, session.id)).artifacts).toEqual([]);
    await perform(() => one.activities.releaseImages({ sessionId: session.id }));
    expect(bench.jobsOf(session.name)).toEqual([]);
  });

  test.each([
    ['error', 'its job ended in error'],
    ['success', 'its job ended without an image'],
  ])('packaging that ends as %s fails this image alone', async (status, message) => {
    const one = bench.worker();
    const { ref, job } = await open(one);
    job.status = status;
    expect(await perform(() => one.activities.finishImage({ ...ref, fault: null }))).toMatchObject({
      resultId: null,
      message,
    });
  });

  test('a job that is gone, and a wait that is over, fail this image alone', async () => {
    const one = bench.worker();
    const gone = await open(one);
    bench.service.jobs.delete(gone.job.id);
    expect(await perform(() => one.activities.finishImage({ ...gone.ref, fault: null }))).toMatchObject({
      message: 'its job at the image service is gone',
    });
    const late = await open(one);
    await bench.db
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
    const one = bench.worker();
    const { session, refs } = await bench.plannedPair(one);
    for (const ref of refs) await bench.opened(one, ref);
    const [first, second] = refs.map((ref) => () => perform(() => one.activities.finishImage({ ...ref, fault: null })));
    for (const finish of [first, second, first, second]) {
      await expect(finish?.()).rejects.toMatchObject({ type: 'image_not_ready' });
    }
    await bench.movedBack(session.id, 90);
    const [job] = bench.jobsOf(session.name);
    if (job) job.resultant_image_id = 'new-image';
    expect(await first?.()).toMatchObject({ resultId: 'new-image' });
    await expect(second?.()).rejects.toMatchObject({ type: 'image_not_ready' });
    await bench.movedBack(session.id, 40);
    expect(await second?.()).toMatchObject({
      resultId: null,
      message: expect.stringContaining('no image within 2 min'),
    });
  });

  test('results of hosts say which images are good', async () => {
    const one = bench.worker();
    const { session, image } = await open(one);
    let beats = 0;
    const environment = activityEnvironment();
    environment.on('heartbeat', () => {
      beats += 1;
    });
    const judge = (exitCode?: number | null) =>
      perform(
        () => one.activities.judgeImages({ sessionId: session.id, ...(exitCode === undefined ? {} : { exitCode }) }),
        environment,
      );
    expect(await judge()).toEqual({ [image]: 'layer 1 did not run' });
    expect(await judge(0)).toEqual({});
    // With thousands of images it takes longer than the engine waits for a sign of life.
    expect(beats).toBeGreaterThan(0);
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
    await bench.db
      .insertInto('runs')
      .values({ ...run, exit_code: 2, created_at: new Date() })
      .execute();
    expect(await judge()).toEqual({ [image]: 'layer 1 failed before it came to this image' });
    const counts = { ok: 1, changed: 0, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };
    const result = { run_id: id, session_id: session.id, layer: 0, attempt: 1, host: image, recorded: false };
    await bench.db
      .insertInto('host_results')
      .values({ ...result, ...counts, status: 'applied', taken_as: null })
      .execute();
    expect(await judge()).toEqual({});
  });
  test('a check tells no image anything and makes none', async () => {
    const one = bench.worker();
    const { session, refs } = await bench.plannedPair(one);
    for (const ref of refs) await bench.opened(one, ref);
    one.commands.length = 0;
    await sql`update sessions set muster = '{"check": true}' where id = ${session.id}`.execute(bench.db);
    expect(await perform(() => one.activities.planImages({ sessionId: session.id }))).toMatchObject({ check: true });
    const message = 'a check makes no image';
    const faults = Object.fromEntries(refs.map(({ image }) => [image, message]));
    expect(await perform(() => one.activities.judgeImages({ sessionId: session.id }))).toEqual(faults);
    for (const ref of refs) {
      const finished = perform(() => one.activities.finishImage({ ...ref, fault: message }));
      expect(await finished).toMatchObject({ resultId: null, message });
    }
    expect(one.commands).toEqual([]);
    expect((await bench.rows(session.id)).map(({ state }) => state)).toEqual(['dropped', 'dropped']);
  });

  test('an image that the limit leaves out is neither told nor made, and its job is deleted', async () => {
    const one = bench.worker();
    const { session, refs } = await bench.plannedPair(one);
    for (const ref of refs) await bench.opened(one, ref);
    one.commands.length = 0;
    const [within, without] = refs;
    await bench.db.updateTable('sessions').set({ ansible_limit: within.image }).where('id', '=', session.id).execute();
    const results = [{ host: within.image, status: 'applied' as const }];
    await addRun(bench.db, session.id, { layer: 0, exitCode: 0, results });
    const message = `left out by the limit ${within.image}`;
    for (const exitCode of [undefined, 0]) {
      const judged = perform(() =>
        one.activities.judgeImages({ sessionId: session.id, ...(exitCode === undefined ? {} : { exitCode }) }),
      );
      expect(await judged).toEqual({ [without.image]: message });
    }
    const finished = perform(() => one.activities.finishImage({ ...without, fault: message }));
    expect(await finished).toMatchObject({ resultId: null, message, leftOut: true });
    expect(one.commands).toEqual([]);
    await expect(perform(() => one.activities.finishImage({ ...within, fault: null }))).rejects.toMatchObject({
      type: 'image_not_ready',
    });
    for (const job of bench.jobsOf(session.name)) if (job.artifact_id === within.image) job.resultant_image_id = 'new';
    const made = await perform(() => one.activities.finishImage({ ...within, fault: null }));
    expect(made).toEqual({ resultName: `one_cfs_${session.name}`, resultId: 'new', message: '' });
    await perform(() => one.activities.releaseImages({ sessionId: session.id }));
    expect(bench.jobsOf(session.name).map(({ artifact_id }) => artifact_id)).toEqual([within.image]);
    expect((await bench.rows(session.id)).map(({ state }) => state)).toEqual(['customized', 'dropped']);
  });
});
