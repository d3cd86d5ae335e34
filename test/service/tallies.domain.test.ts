import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BOUNDS, histogramOf } from '../../domain/service/tallies.ts';

describe('a histogram of stored buckets', () => {
  test('is empty without any', () => {
    expect(histogramOf([])).toEqual({ cumulative: BOUNDS.map(() => 0), count: 0, sum: 0 });
  });
  test('counts each bucket in all that are above it, and the last in none', () => {
    const rows = [
      { bucket: 0, count: 2, sum: 0.1 },
      { bucket: 2, count: 3, sum: 1.2 },
      { bucket: BOUNDS.length, count: 1, sum: 90_000 },
    ];
    const { cumulative, count, sum } = histogramOf(rows);
    expect(cumulative).toEqual([2, 2, ...BOUNDS.slice(2).map(() => 5)]);
    expect(count).toBe(6);
    expect(sum).toBeCloseTo(90_001.3);
  });
  test('never falls and never exceeds the count', () => {
    const row = fc.record({ bucket: fc.integer({ min: 0, max: BOUNDS.length }), count: fc.nat(99), sum: fc.nat(99) });
    fc.assert(
      fc.property(fc.uniqueArray(row, { selector: ({ bucket }) => bucket }), (rows) => {
        const { cumulative, count } = histogramOf(rows);
        const steps = [0, ...cumulative, count];
        return steps.every((value, at) => at === 0 || value >= (steps[at - 1] ?? 0));
      }),
    );
  });
});
