import { describe, expect, test } from '@jest/globals';
import { figuresOf, judge } from '../../bench/comparison.ts';

describe('the figures of a row', () => {
  test.each([
    ['a series alone', { seconds: [3, 1, 2] }, { seconds: 2 }],
    ['a rate, of which more is better', { events_per_second: [4] }, { '1 / events_per_second': 0.25 }],
    ['beside a bare run', { bare: [1, 2], muster: [2, 3] }, { 'muster / bare': 1.75 }],
    [
      'wall and CPU beside a bare run',
      { bare_wall: [1], muster_wall: [2], bare_cpu: [2], muster_cpu: [3] },
      { 'muster_wall / bare': 2, 'muster_cpu / bare': 1.5 },
    ],
    [
      'ends beside a bare end',
      { sleeps_gone: [1], sleeps_complete: [2], sleeps_bare: [9] },
      { sleeps_gone: 1, sleeps_complete: 2 },
    ],
    ['a series without samples', { seconds: [] }, {}],
  ])('%s', (_, samples, expected) => {
    expect(figuresOf(samples)).toEqual(expected);
  });
});

describe('a row against another commit', () => {
  const rounds = (values: number[]) => values.map((seconds) => ({ seconds }));

  test.each([
    ['the same', [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], 1, false],
    ['slower by 5 % in every round', [1, 1, 1, 1, 1], [1.05, 1.05, 1.05, 1.05, 1.05], 1.05, false],
    ['slower by more in every round', [1, 1, 1, 1, 1], [1.06, 1.07, 1.08, 1.2, 1.06], 1.07, true],
    ['slower, but for one round of the other', [1, 1, 1, 1, 1.3], [1.2, 1.2, 1.2, 1.2, 1.2], 1.2, false],
    ['faster', [2, 2, 2, 2, 2], [1, 1, 1, 1, 1], 0.5, false],
  ])('%s', (_, base, here, ratio, worse) => {
    expect(judge(rounds(base), rounds(here))).toEqual([
      {
        figure: 'seconds',
        ratio,
        base: [Math.min(...base), Math.max(...base)],
        here: [Math.min(...here), Math.max(...here)],
        worse,
      },
    ]);
  });

  test('a figure that only the other commit has is not judged', () => {
    expect(judge([{ old: 1, seconds: 1 }], [{ seconds: 1 }]).map(({ figure }) => figure)).toEqual(['seconds']);
  });
});
