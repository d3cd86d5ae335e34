import { expect, test } from '@jest/globals';
import { keepFor } from '../../../drivers/member-clusters/keep-for.ts';

const LONG_MS = 3_600_000;

test('a value is kept for its time', () => {
  const over = keepFor<number>(0);
  over.put('a', 1);
  expect([over.find('a'), over.read('a', () => 2)]).toEqual([undefined, 2]);
  const kept = keepFor<number>(LONG_MS);
  kept.put('a', 1);
  expect([kept.find('a'), kept.read('a', () => 2)]).toEqual([1, 1]);
  kept.forget('a');
  expect(kept.find('a')).toBe(undefined);
});

test('of too many values the oldest go, and a value that is put again is a new one', () => {
  const kept = keepFor<number>(LONG_MS, 2);
  kept.put('a', 1);
  kept.put('b', 2);
  kept.put('a', 3);
  kept.put('c', 4);
  expect(['a', 'b', 'c'].map(kept.find)).toEqual([3, undefined, 4]);
});
