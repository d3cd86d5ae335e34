import { expect, test } from '@jest/globals';
import { keptByKey } from '../../api/shared/kept-by-key.ts';
import { lastAnswer, nextAnswer, sharedAnswer } from '../../api/shared/shared-answer.ts';
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

test('an answer is never older than its question: those who ask during a read have the next one', async () => {
  const ends: ((value: number) => void)[] = [];
  const ask = nextAnswer(() => new Promise<number>((resolve) => ends.push(resolve)), 0);
  const [first, same] = [ask(), ask()];
  await new Promise(setImmediate);
  const [later, last] = [ask(), ask()];
  await new Promise(setImmediate);
  expect(ends).toHaveLength(1);
  ends[0]?.(1);
  expect(await Promise.all([first, same])).toEqual([1, 1]);
  await new Promise(setImmediate);
  expect(ends).toHaveLength(2);
  ends[1]?.(2);
  expect(await Promise.all([later, last])).toEqual([2, 2]);
});

test('the next read comes when its time has come, and after one that failed', async () => {
  const begun: number[] = [];
  const ask = nextAnswer(async () => {
    begun.push(performance.now());
    if (begun.length === 1) throw new Error('no');
    return begun.length;
  }, 30);
  await expect(ask()).rejects.toThrow('no');
  expect(await ask()).toBe(2);
  const [first = 0, second = 0] = begun;
  expect(second - first).toBeGreaterThanOrEqual(28);
});

test('so many are kept by their keys, those that were asked for last', () => {
  const made: string[] = [];
  const of = keptByKey((key) => made.push(key), 2);
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) of(key);
  expect(made).toEqual(['a', 'b', 'c', 'b']);
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
