import { expect, test } from '@jest/globals';
import { sharedAnswer } from '../../api/shared/shared-answer.ts';

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
