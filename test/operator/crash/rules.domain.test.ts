/** What a crash leaves on record, and what follows from it. */
import { describe, expect, test } from '@jest/globals';
import { afterReconcile } from '../../../domain/operator/after-reconcile.ts';
import { type Counts, countsBefore, interruptedAs } from '../../../domain/operator/back-off.ts';
import { wasLate } from '../../../domain/operator/reconcile.ts';
import { DEFAULT_BACKOFF } from '../../../domain/operator/watch-entry.ts';

describe('a run that is lost again and again', () => {
  /** What reconciles come to whose runs are all lost; `generations`: those that they read, in order. */
  const outcomes = (generations: number[]): string[] => {
    let counts: Counts = { failures: 0, interruptions: 0 };
    let last: number | null = null;
    return generations.map((generation) => {
      const outcome = interruptedAs(countsBefore(counts, last, generation));
      const next = outcome === 'failed' ? ({ when: 'back_off' } as const) : ({ when: 'now' } as const);
      const before = counts;
      const after = afterReconcile({
        ...{ outcome, next, before, generation, generationOfLastRun: last, backoff: DEFAULT_BACKOFF, random: 0 },
      });
      counts = after.counts;
      last = generation;
      return outcome;
    });
  };

  test('has failed at the fourth time, also where no run of the resource ever came to its end', () => {
    const four = ['interrupted', 'interrupted', 'interrupted', 'failed'];
    expect(outcomes([1, 1, 1, 1, 1, 1, 1, 1])).toEqual([...four, ...four]);
  });

  test('begins anew with a change of the resource', () => {
    expect(outcomes([1, 1, 1, 2, 2, 2, 2])).toEqual([...Array(6).fill('interrupted'), 'failed']);
  });
});

describe('a run that took longer than its entry allows', () => {
  const at = (seconds: number) => new Date(Date.UTC(2026, 0, 2) + seconds * 1_000);
  test.each([
    ['that was ended at its limit', at(0), at(10), 143, 10_000, true],
    ['that was killed behind it', at(0), at(14), 137, 10_000, true],
    ['whose ansible-runner says that it was ended', at(0), at(10), 254, 10_000, true],
    ['that came to its end behind the limit, while no process looked', at(0), at(3_600), 0, 10_000, false],
    ['that failed by itself, and was found late', at(0), at(3_600), 2, 10_000, false],
    ['that was ended before its limit', at(0), at(9), 143, 10_000, false],
    ['that has no limit', at(0), at(3_600), 143, null, false],
    ['that never began', null, at(20), 143, 10_000, false],
    ['that was lost', at(0), at(20), null, 10_000, false],
  ])('%s', (_, startedAt, endedAt, exitCode, limitMs, late) => {
    expect(wasLate({ startedAt, endedAt, exitCode }, limitMs)).toBe(late);
  });
});
