/** Changes of status, by the statuses before and after. */
import { expect, test } from '@jest/globals';
import { becomesOf } from '../../domain/service/becomes.ts';

const many = (count: number, status: string, first = 0) =>
  Array.from({ length: count }, (_, index) => ({ id: `n${first + index}`, status }));

test('counts by old and new status, and names the first 20', () => {
  const before = [...many(30, 'configured'), ...many(2, 'failed', 30)];
  const after = [...many(30, 'pending'), ...many(1, 'failed', 30)];
  const [first, second, ...others] = becomesOf(before, after);
  expect(first).toMatchObject({ from: 'configured', to: 'pending', count: 30 });
  expect(first?.ids).toEqual(many(20, '').map(({ id }) => id));
  expect(second).toEqual({ from: 'failed', to: null, count: 1, ids: ['n31'] });
  expect(others).toEqual([]);
});

test.each([
  [[], [], []],
  [many(3, 'pending'), many(3, 'pending'), []],
  [[], many(1, 'pending'), [{ from: null, to: 'pending', count: 1, ids: ['n0'] }]],
])('of %j and %j is %j', (before, after, expected) => {
  expect(becomesOf(before, after)).toEqual(expected);
});
