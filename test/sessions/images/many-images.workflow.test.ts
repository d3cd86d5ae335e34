/** A session on more images than one workflow may have activities at once; the server takes 2,000, here 203. */
import { expect, test } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { admitted } from '../../support/fakes/fake-session.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { benchOfBlock } from '../../support/stack/bench-of-block.ts';
import { temporalMissing } from '../../support/temporal/temporal-binary.ts';
import { openDevServer } from '../../support/temporal/workflow-environment.ts';

const IMAGES = Array.from({ length: 230 }, (_, index) => `i${index}`);

describeNeeding(temporalMissing(), 'a session on many images', () => {
  const { bench } = benchOfBlock(() => openDevServer(['limit.numPendingActivities.error=203']));

  const onImages = {
    admitSession: async () => admitted({ images: true }),
    planImages: async () => ({ images: IMAGES, waitSeconds: 60 }),
  };

  test('opens and finishes all of them, not all at once', async () => {
    const session = await bench.start(onImages);
    await session.result();
    expect(new Set(session.fake.inputs('openImage').map(({ image }) => image)).size).toBe(IMAGES.length);
    expect(new Set(session.fake.inputs('finishImage').map(({ image }) => image)).size).toBe(IMAGES.length);
    expect(session.fake.end().message).toBe('1 layer done on 3 hosts; 230 of 230 images customized');
  });

  test('begins with no further one when one has failed', async () => {
    const session = await bench.start({
      ...onImages,
      openImage: async ({ image }) => {
        if (image === 'i3') throw ApplicationFailure.nonRetryable('image i3: its job ended', 'image_job_failed');
        throw ApplicationFailure.create({ type: 'image_not_ready', message: 'creating', nextRetryDelay: '1h' });
      },
    });
    await session.result();
    expect(session.fake.end()).toMatchObject({ message: 'image i3: its job ended', reason: 'image_job_failed' });
    // By their names: on a busy machine the server may begin a next try before its time.
    const begun = new Set(session.fake.inputs('openImage').map(({ image }) => image));
    expect(IMAGES.slice(200).filter((image) => begun.has(image))).toEqual([]);
  });

  test('every history of these tests replays', async () => {
    expect(await bench.replayAll()).toBe(2);
  });
});
