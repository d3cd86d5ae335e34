import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { findMacKey, hasMacKey } from '../../drivers/secrets/mac-key.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'muster-mac-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const files = (given?: string) => ({ given, own: join(dir, 'mac.key'), secretKey: join(dir, 'secret.key') });

test('the key is made from the key of the secrets, for us alone, and stays when that changes', () => {
  expect(hasMacKey(files())).toBe(false);
  expect(() => findMacKey(files())).toThrow('There is no key of the MACs');
  writeFileSync(join(dir, 'secret.key'), Buffer.alloc(32, 1));
  const key = findMacKey(files());
  expect(key).toHaveLength(32);
  expect(key).not.toEqual(Buffer.alloc(32, 1));
  expect(statSync(join(dir, 'mac.key')).mode & 0o777).toBe(0o600);
  writeFileSync(join(dir, 'secret.key'), Buffer.alloc(32, 2));
  expect(findMacKey(files())).toEqual(key);
  // A copy of the key of the secrets is enough to have it again.
  rmSync(join(dir, 'mac.key'));
  writeFileSync(join(dir, 'secret.key'), Buffer.alloc(32, 1));
  expect(findMacKey(files())).toEqual(key);
});

test('one that is given counts, without the line break at its end; a short or broken one is refused by its name', () => {
  const given = join(dir, 'given');
  writeFileSync(given, `${'k'.repeat(40)}\n`);
  const key = findMacKey(files(given));
  writeFileSync(given, 'k'.repeat(40));
  expect(findMacKey(files(given))).toEqual(key);
  writeFileSync(given, 'short');
  expect(() => findMacKey(files(given))).toThrow(given);
  writeFileSync(join(dir, 'mac.key'), 'short');
  expect(() => findMacKey(files())).toThrow(join(dir, 'mac.key'));
});
