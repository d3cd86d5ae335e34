import { expect, test } from '@jest/globals';
import { lastAnswer, sharedAnswer } from '../../api/shared/shared-answer.ts';
import { countsKeptFor } from '../../domain/fleet/kept-counts.ts';

test('a read is shared while it goes on, however long it takes', async () => {
  const ends: ((value: number) => void)[] = [];
  const ask = sharedAnswer(() => new Promise<number>((resolve) => ends.push(resolve)), 0);
  const [first, second] = [ask(), ask()];
  expect(ends).toHaveLength(1);
  ends[0]?.(1);
  expect(await Promise.all([first, second])).toEqual([1, 1]);
  void ask();
  expect(ends).toHaveLength(2);
});

test('an answer is shared for a time, and a failure is not', async () => {
  let count = 0;
  const ask = sharedAnswer(async () => {
    count += 1;
    if (count === 1) throw new Error('no');
    return count;
  }, 60_000);
  await expect(ask()).rejects.toThrow('no');
  expect([await ask(), await ask()]).toEqual([2, 2]);
});

test('how long an answer is shared may depend on it', async () => {
  let count = 0;
  const ask = sharedAnswer(
    async () => {
      count += 1;
      return count;
    },
    (found) => (found === 1 ? 0 : 60_000),
  );
  expect([await ask(), await ask(), await ask()]).toEqual([1, 2, 2]);
});

test('the last answer is given at once while the next one is read', async () => {
  const ends: ((value: number) => void)[] = [];
  const ask = lastAnswer(() => new Promise<number>((resolve) => ends.push(resolve)), 60_000);
  const first = ask();
  ends[0]?.(1);
  expect(await first).toBe(1);
  expect(await ask()).toBe(1);
  ends[1]?.(2);
  await new Promise(setImmediate);
  expect(await ask()).toBe(2);
});

test('an answer that is too old is not given: the next one is waited for, and fails with its read', async () => {
  const reads = [async () => 1, async () => 2, () => Promise.reject(new Error('no')), async () => 4];
  const ask = lastAnswer(() => (reads.shift() ?? (async () => 0))(), 0);
  expect([await ask(), await ask()]).toEqual([1, 2]);
  await expect(ask()).rejects.toThrow('no');
  expect(await ask()).toBe(4);
});

test.each([
  [0, 0],
  [100_000, 0],
  [250_000, 1_500],
  [1_000_000, 9_000],
  [5_000_000, 9_000],
])('counts of %i components are kept for %i ms', (components, milliseconds) => {
  expect(countsKeptFor(components, 1_000)).toBe(milliseconds);
});
