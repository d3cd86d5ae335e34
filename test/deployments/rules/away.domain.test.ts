/** How long work waits for a cluster, how often the cluster is asked, and how many requests it gets at once. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createClusterTurns } from '../../../control/deployments/cluster-turns.ts';
import { probePause } from '../../../domain/deployments/connectivity.ts';
import { leftOf } from '../../../domain/deployments/retry.ts';

describe('the rest until the next probe', () => {
  test.each([
    ['answers and has no AppContext', true, false, [], 60_000],
    ['answers and has an AppContext', true, true, [], 20_000],
    ['answers: what waited is woken and asks anew', true, true, [2_000], 20_000],
    ['does not answer', false, false, [], 20_000],
    ['does not answer and is waited for', false, true, [30_000, 2_000], 2_000],
    ['does not answer and is waited for in calm', false, true, [60_000], 20_000],
  ])('of a cluster that %s', (_what, isAnswering, isUsed, waits, rest) => {
    expect(probePause(isAnswering, isUsed, waits)).toBe(rest);
  });
});

test('what is left of a wait shrinks with the time, and passes 0', () => {
  const since = new Date('2031-03-04T08:00:00Z');
  const after = (ms: number) => leftOf({ since, retryMs: 2_000 }, new Date(since.getTime() + ms));
  expect([0, 500, 2_000, 3_000].map(after)).toEqual([2_000, 1_500, 0, -1_000]);
});

describe('turns at a cluster', () => {
  test('are never more than allowed, all come, and each cluster has its own', async () => {
    const jobs = fc.array(fc.record({ cluster: fc.constantFrom('a', 'b'), fails: fc.boolean(), ticks: fc.nat(3) }), {
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(jobs, fc.integer({ min: 1, max: 4 }), async (all, most) => {
        const turns = createClusterTurns(most);
        const atWork: Record<string, number> = { a: 0, b: 0 };
        const seen: Record<string, number[]> = { a: [], b: [] };
        const ends = await Promise.allSettled(
          all.map(({ cluster, fails, ticks }, number) =>
            turns.take(cluster, async () => {
              atWork[cluster] = (atWork[cluster] ?? 0) + 1;
              expect(atWork[cluster]).toBeLessThanOrEqual(most);
              seen[cluster]?.push(number);
              for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
              atWork[cluster] = (atWork[cluster] ?? 0) - 1;
              if (fails) throw new Error('it failed');
              return number;
            }),
          ),
        );
        expect(ends.map(({ status }) => status)).toEqual(all.map(({ fails }) => (fails ? 'rejected' : 'fulfilled')));
        // In the order in which they were asked for.
        for (const cluster of ['a', 'b']) {
          const asked = all.flatMap((job, number) => (job.cluster === cluster ? [number] : []));
          expect(seen[cluster]).toEqual(asked);
        }
      }),
    );
  });
});
