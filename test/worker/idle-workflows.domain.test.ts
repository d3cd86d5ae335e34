import { describe, expect, test } from '@jest/globals';
import { msToNumber } from '@temporalio/common/lib/time.js';
import { keepRunning } from '../../worker/keep-running.ts';
import { eventually } from '../support/eventually.ts';
import { laneSchedules } from '../support/temporal/lane-schedules.ts';

const TEN_MINUTES = 600_000;

/** Workflows that the schedules start in ten minutes. */
const started = (parts: { hardwareSync?: boolean }) =>
  laneSchedules(parts)
    .filter(({ wanted }) => wanted)
    .flatMap(({ options }) => options.spec.intervals)
    .reduce((sum, { every }) => sum + TEN_MINUTES / msToNumber(every), 0);

describe('workflows of an idle stack in ten minutes', () => {
  test.each([
    ['without a hardware manager', {}],
    ['with one', { hardwareSync: true }],
  ])('%s: few enough that sessions are seen between them', (_what, parts) => {
    const count = started(parts);
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThanOrEqual(16);
  });
});

describe('what is always to run', () => {
  const warnings: object[] = [];
  const log = { warn: (fields: object, message: string) => void warnings.push({ ...fields, message }) };

  test('is seen to again and again, also after a failure, which keeps nothing else from it', async () => {
    const looks = { batcher: 0, webhooks: 0 };
    const stop = keepRunning(
      {
        batcher: async () => {
          looks.batcher += 1;
          throw new Error('no answer');
        },
        webhooks: async () => {
          looks.webhooks += 1;
        },
      },
      log,
      1,
    );
    await eventually('both were seen to', async () => looks.batcher > 2 && looks.webhooks > 2);
    await stop();
    const { batcher } = looks;
    expect(warnings).toHaveLength(batcher);
    expect(warnings[0]).toEqual({ err: 'Error: no answer', message: 'not seen to: batcher' });
  });

  test('a look that goes on is waited for at the stop, and none begins beside it', async () => {
    const going = Promise.withResolvers<void>();
    let looks = 0;
    const stop = keepRunning(
      {
        slow: () => {
          looks += 1;
          return going.promise;
        },
      },
      log,
      1,
    );
    await eventually('it looks', async () => looks === 1);
    let isStopped = false;
    const stopping = stop().then(() => {
      isStopped = true;
    });
    await Promise.resolve();
    expect(isStopped).toBe(false);
    going.resolve();
    await stopping;
    expect(looks).toBe(1);
  });
});
