/** An image service that takes requests and does not answer keeps no more than half of what a worker does at once. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createImageLooks } from '../../../activities/sessions/images/image-looks.ts';
import { type ImageBench, openImageBench } from '../../support/images/image-bench.ts';
import { perform } from '../../support/stack/session-machine.ts';

const IN_VAIN = { type: 'image_not_ready', nextRetryDelay: '5s' };

test('a place is free again when a look has ended, however it ended', async () => {
  const looking = createImageLooks(2);
  const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const looks = [looking(() => first.promise), looking(() => second.promise)];
  await expect(looking(async () => 'third')).rejects.toMatchObject(IN_VAIN);
  first.resolve('first');
  second.reject(new Error('second'));
  expect(await Promise.allSettled(looks)).toMatchObject([{ value: 'first' }, { reason: { message: 'second' } }]);
  expect(await Promise.all([looking(async () => 'third'), looking(async () => 'fourth')])).toEqual(['third', 'fourth']);
});

describe('while the service is silent', () => {
  let bench: ImageBench;
  beforeAll(async () => {
    bench = await openImageBench();
  });
  beforeEach(() => bench.reset());
  afterAll(() => bench?.close());

  test.each(['openImage', 'finishImage'] as const)(
    '25 tries of %s wait for it, and the next one is told to come back',
    async (step) => {
      const one = bench.worker();
      const { ref } = await bench.planned(one);
      if (step === 'finishImage') await bench.opened(one, ref);
      bench.service.trouble = () => ({ kind: 'silent' });
      const hasty = bench.worker({ imageService: bench.client(1_000), imageKeys: one.deps.imageKeys });
      const tries = Array.from({ length: 26 }, () =>
        perform<unknown>(() => hasty.activities[step]({ ...ref, fault: null })),
      );
      await expect(tries.at(-1)).rejects.toMatchObject(IN_VAIN);
      const others = await Promise.allSettled(tries.slice(0, -1));
      expect(others.map((other) => other.status === 'rejected' && other.reason.code)).toEqual(
        others.map(() => 'image_service_unavailable'),
      );
    },
  );
});
