import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readHostId } from '../../drivers/machine/machine-id.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-host-id-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

test('several that make it at once get the same one, and nothing else stays', async () => {
  const data = join(dir, 'data');
  const ids = await Promise.all(Array.from({ length: 8 }, () => readHostId(data)));
  expect(new Set(ids)).toEqual(new Set([(await readFile(join(data, 'host-id'), 'utf8')).trim()]));
  expect(await readdir(data)).toEqual(['host-id']);
});

test('one that is there is only read: a full disk keeps no worker from its start', async () => {
  const id = await readHostId(dir);
  const then = new Date('2020-01-01');
  await utimes(dir, then, then);
  expect(await readHostId(dir)).toBe(id);
  // Whatever is made in a folder, and be it for a moment, changes its time.
  expect((await stat(dir)).mtime).toEqual(then);
});

test('one that is no id is named', async () => {
  await writeFile(join(dir, 'host-id'), '');
  await expect(readHostId(dir)).rejects.toThrow('holds no id');
});
