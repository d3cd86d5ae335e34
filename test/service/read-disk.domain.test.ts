import { expect, test } from '@jest/globals';
import { readDisk } from '../../control/service/read-disk.ts';

test('a disk that does not answer is unknown, and is not looked at again meanwhile', async () => {
  const ends: (() => void)[] = [];
  const look = () =>
    new Promise<{ bavail: number; blocks: number; bsize: number }>((resolve) => {
      ends.push(() => resolve({ bavail: 1, blocks: 2, bsize: 4096 }));
    });
  const read = () => readDisk('/of-this-test', look, 1);
  expect([await read(), await read(), ends.length]).toEqual([null, null, 1]);
  const found = readDisk('/of-this-test', look, 60_000);
  ends[0]?.();
  expect(await found).toMatchObject({ path: '/of-this-test', free: 4096, size: 8192 });
  void read();
  expect(ends).toHaveLength(2);
});

test('a disk that cannot be read is unknown', async () => {
  expect(await readDisk('/of-another-test', () => Promise.reject(new Error('no such folder')))).toBeNull();
});
