import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const COUNT = 100_000;

/** In a process of its own, since what jest holds would hide it. */
test('memory stays flat while 100,000 components are listed', async () => {
  const program = join(import.meta.dirname, 'stand-ins', 'list-memory.ts');
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', program, String(COUNT)], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const { bytes, samples, grown } = JSON.parse(stdout) as { bytes: number; samples: number; grown: number };
  expect(bytes).toBeGreaterThan(50e6);
  expect(samples).toBeGreaterThan(20);
  expect(grown).toBeLessThan(25e6);
}, 600_000);
