import { expect, test } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { cancelSession } from '../../../workflows/sessions/messages.ts';
import { admitted, endlessRuns, endlessWork, layerOutcome } from '../../support/fakes/fake-session.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { benchOfBlock } from '../../support/stack/bench-of-block.ts';
import { temporalMissing } from '../../support/temporal/temporal-binary.ts';
import { openDevServer } from '../../support/temporal/workflow-environment.ts';

describeNeeding(temporalMissing(), 'a session on images', () => {
  const { bench } = benchOfBlock(openDevServer);

  const onImages = { admitSession: async () => admitted({ images: true }) };
  const BEFORE = ['admitSession', 'cloneLayers', 'planImages', 'makeImageKey'];
  const AFTER = ['releaseImages', 'removeWorkspace', 'recordEnd'];

  test('prepares its images before the inventory, finishes them after the layers, and lets go of everything', async () => {
    const session = await bench.start(onImages);
    await session.result();
    expect(session.fake.names()).toEqual([
      ...BEFORE,
      'openImage',
      'openImage',
      'removeImageKey',
      'writeInventory',
      'runLayer',
      'recordLayer',
      'judgeImages',
      'finishImage',
      'finishImage',
      ...AFTER,
    ]);
    expect(
      session.fake
        .inputs('openImage')
        .map(({ image }) => image)
        .sort(),
    ).toEqual(['i1', 'i2']);
    expect(session.fake.end()).toMatchObject({
      succeeded: 'true',
      message: '1 layer done on 3 hosts; 2 of 2 images customized',
    });
  });

  test('waits for an image by being asked again', async () => {
    let tries = 0;
    const session = await bench.start({
      ...onImages,
      planImages: async () => ({ images: ['i1', 'i2'], waitSeconds: 60, queueSeconds: 600 }),
      openImage: async () => {
        tries += 1;
        if (tries < 4) {
          throw ApplicationFailure.create({ type: 'image_not_ready', message: 'creating', nextRetryDelay: '10ms' });
        }
      },
    });
    await session.result();
    expect(session.fake.end().succeeded).toBe('true');
    const { events } = await session.handle.fetchHistory();
    const scheduled = (events ?? []).filter(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'openImage',
    );
    expect(scheduled).toHaveLength(2);
    // What the activity waits at most, for each of two images and for its turn, and what it takes until somebody takes it up.
    const [first] = scheduled.map(
      (event) => event.activityTaskScheduledEventAttributes?.scheduleToCloseTimeout?.seconds,
    );
    expect(Number(first)).toBe(2 * 60 + 600 + 1_800);
  });

  test('one image that cannot be opened breaks off the others, and all are released', async () => {
    const other = endlessWork();
    const session = await bench.start({
      ...onImages,
      openImage: async ({ image }) => {
        if (image === 'i2') return other.run();
        await other.begun;
        throw ApplicationFailure.nonRetryable('image i1: its job ended in error', 'image_job_failed');
      },
    });
    await session.result();
    expect(other.cancelled()).toBe(true);
    expect(session.fake.names().slice(-3)).toEqual(AFTER);
    expect(session.fake.names()).not.toContain('writeInventory');
    expect(session.fake.end()).toEqual({
      succeeded: 'false',
      message: 'image i1: its job ended in error',
      reason: 'image_job_failed',
    });
  });

  test.each(['planImages', 'makeImageKey', 'openImage', 'finishImage'] as const)(
    'a cancel during %s releases what was made',
    async (step) => {
      const work = endlessWork();
      const session = await bench.start({ ...onImages, [step]: () => work.run() });
      await work.begun;
      await session.handle.executeUpdate(cancelSession, { args: [{ reason: 'enough' }] });
      await session.result();
      expect(work.cancelled()).toBe(true);
      expect(session.fake.names().slice(-3)).toEqual(AFTER);
      expect(session.fake.end()).toEqual({ succeeded: 'false', message: 'enough', reason: 'cancelled' });
    },
  );

  test('a cancel while a layer runs ends the run, then releases; no image is told that it is done', async () => {
    const { begun, ...runs } = endlessRuns();
    const session = await bench.start({ ...onImages, ...runs });
    await begun;
    await session.handle.executeUpdate(cancelSession, { args: [{ reason: 'enough' }] });
    await session.result();
    expect(session.fake.names()).not.toContain('finishImage');
    expect(session.fake.names().slice(-3)).toEqual(AFTER);
  });

  test('images that are not good are told so, the good one counts, the session failed', async () => {
    const session = await bench.start({
      ...onImages,
      runLayer: async ({ layer }) => layerOutcome(layer, 2),
      judgeImages: async () => ({ i2: 'layer 0 failed' }),
    });
    await session.result();
    const finished = session.fake.inputs('finishImage');
    expect(finished).toHaveLength(2);
    expect(finished).toEqual(
      expect.arrayContaining([
        { image: 'i1', fault: null },
        { image: 'i2', fault: 'layer 0 failed' },
      ]),
    );
    expect(session.fake.end()).toEqual({
      succeeded: 'false',
      message: 'layer 1 site.yml failed: 1 of 3 hosts failed, exit status 2; 1 of 2 images customized',
      reason: 'layer_failed',
    });
  });

  test('a check makes no image and succeeds all the same', async () => {
    const session = await bench.start({
      ...onImages,
      planImages: async () => ({ images: ['i1', 'i2'], waitSeconds: 60, check: true }),
      judgeImages: async () => ({ i1: 'a check makes no image', i2: 'a check makes no image' }),
    });
    await session.result();
    expect(session.fake.end()).toEqual({
      succeeded: 'true',
      message: expect.stringMatching(/^1 layer done on .*; a check makes no image$/),
      reason: null,
    });
    expect(session.fake.names().slice(-3)).toEqual(AFTER);
  });

  test('layers that succeed and an image that is not made: failed, and named', async () => {
    const session = await bench.start({
      ...onImages,
      finishImage: async ({ image }) => ({ resultName: `new-${image}`, resultId: null, message: 'its disk is full' }),
    });
    await session.result();
    expect(session.fake.end()).toEqual({
      succeeded: 'false',
      message: '0 of 2 images customized; new-i1: its disk is full',
      reason: 'image_not_customized',
    });
  });

  const leavesOut = (...names: string[]) => ({
    ...onImages,
    finishImage: async ({ image }: { image: string }) => ({
      resultName: `new-${image}`,
      resultId: names.includes(image) ? null : `r-${image}`,
      message: 'left out by the limit i1',
      ...(names.includes(image) ? { leftOut: true } : {}),
    }),
  });
  test('an image that the limit has left out is no failure', async () => {
    const session = await bench.start(leavesOut('i2'));
    await session.result();
    expect(session.fake.end()).toMatchObject({
      succeeded: 'true',
      message: '1 layer done on 3 hosts; 1 of 2 images customized, 1 left out by the limit',
    });
  });
  test('a limit that leaves out every image fails the session', async () => {
    const session = await bench.start(leavesOut('i1', 'i2'));
    await session.result();
    expect(session.fake.end()).toEqual({
      succeeded: 'false',
      message: '0 of 2 images customized, 2 left out by the limit; new-i1: left out by the limit i1',
      reason: 'image_not_customized',
    });
  });

  test('jobs that cannot be ended do not keep the session from ending, and the end says so', async () => {
    const session = await bench.start({
      ...onImages,
      releaseImages: async () => {
        throw ApplicationFailure.nonRetryable('DELETE /jobs/j was answered 403', 'image_service_refused');
      },
    });
    await session.result();
    expect(session.fake.end()).toMatchObject({
      succeeded: 'true',
      message: expect.stringContaining('image jobs are left: DELETE /jobs/j was answered 403'),
    });
  });

  test('a worker that is replaced in the middle goes on where it was', async () => {
    const work = endlessWork();
    let replaced = false;
    const openImage = async () => (replaced ? undefined : work.run());
    const session = await bench.start({ ...onImages, openImage });
    await work.begun;
    await bench.stopWorker();
    replaced = true;
    await bench.startWorker();
    await session.result();
    expect(session.fake.end().succeeded).toBe('true');
    expect(session.fake.names().filter((name) => name === 'releaseImages')).toHaveLength(1);
  });
});
