import { expect, test } from '@jest/globals';
import { sharedReads } from '../../../control/deployments/shared-reads.ts';

/** Reads that end when they are told to. */
function heldReads() {
  const held: { key: string; end: PromiseWithResolvers<string> }[] = [];
  const read = sharedReads((key) => {
    const end = Promise.withResolvers<string>();
    held.push({ key, end });
    return end.promise;
  });
  return { held, read };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test('who asks while a read is under way is told what was read later, and shares that', async () => {
  const { held, read } = heldReads();
  const first = [read('a'), read('a')];
  await settled();
  const later = [read('a'), read('a'), read('a')];
  const other = read('b');
  await settled();
  expect(held.map(({ key }) => key)).toEqual(['a', 'b']);
  held[0]?.end.resolve('before');
  expect(await Promise.all(first)).toEqual(['before', 'before']);
  await settled();
  expect(held.map(({ key }) => key)).toEqual(['a', 'b', 'a']);
  held[1]?.end.resolve('other');
  held[2]?.end.resolve('after');
  expect([await Promise.all(later), await other]).toEqual([['after', 'after', 'after'], 'other']);
  const anew = read('a');
  await settled();
  held[3]?.end.resolve('anew');
  expect(await anew).toBe('anew');
});

test('a read that fails fails for those who share it, and the next one is made', async () => {
  const { held, read } = heldReads();
  const first = [read('a'), read('a')];
  await settled();
  const later = read('a');
  held[0]?.end.reject(new Error('away'));
  for (const each of first) await expect(each).rejects.toThrow('away');
  await settled();
  held[1]?.end.resolve('back');
  expect(await later).toBe('back');
});
