import { chmodSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { makePrivate } from '../../../drivers/machine/private-files.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'muster-private-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const at = (name: string) => join(dir, name);
const mode = (name: string) => lstatSync(at(name)).mode & 0o7777;
const put = (name: string, bits: number) => {
  writeFileSync(at(name), '');
  chmodSync(at(name), bits);
};
const make = (name: string, bits: number) => {
  mkdirSync(at(name));
  chmodSync(at(name), bits);
};

test('what others may do is taken away, and nothing is added', async () => {
  make('whole', 0o755);
  make('whole/inside', 0o777);
  put('whole/inside/object', 0o444);
  put('whole/script', 0o755);
  put('whole/closed', 0o600);
  make('single', 0o750);
  put('single/content', 0o644);
  put('outside', 0o644);
  symlinkSync(at('outside'), at('whole/link'));
  expect(await makePrivate({ whole: [at('whole'), at('nowhere')], single: [at('single'), at('none')] })).toEqual([]);
  expect(['whole', 'whole/inside', 'whole/inside/object', 'whole/script', 'whole/closed'].map(mode)).toEqual([
    0o700, 0o700, 0o400, 0o700, 0o600,
  ]);
  expect(['single', 'single/content', 'outside'].map(mode)).toEqual([0o700, 0o644, 0o644]);
});
