import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { MIGRATIONS } from '../../store/migrations/index.ts';
import { ROOT } from '../support/source-tree.ts';

const FOLDER = join(ROOT, 'store', 'migrations');

test('migrations have the numbers from 1 on, without a gap and none twice, and all of them are known', () => {
  const files = readdirSync(FOLDER).filter((name) => /^[0-9]/.test(name));
  const numbers = files.map((name) => Number(name.slice(0, 4))).sort((one, other) => one - other);
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  expect(Object.keys(MIGRATIONS)).toEqual(files.map((name) => name.replace(/\.ts$/, '')).sort());
  for (const { up } of Object.values(MIGRATIONS)) expect(typeof up).toBe('function');
});
