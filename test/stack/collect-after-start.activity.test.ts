import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const run = promisify(execFile);
const MODULE = join(import.meta.dirname, '..', '..', 'drivers', 'memory', 'collect-after-start.ts');
const GARBAGE_MIB = 40;

/** A process that has made garbage and then allocates nothing more; prints the MiB that it holds before and in the end. */
const PROGRAM = `
import { collectAfterStart } from ${JSON.stringify(MODULE)};
const held = () => process.memoryUsage().heapUsed / 2 ** 20;
let garbage = Array.from({ length: ${GARBAGE_MIB} }, () => Array.from({ length: 2 ** 17 }, (_, index) => index + 0.5));
const before = held();
garbage = null;
const latest = Date.now() + 20_000;
collectAfterStart(10);
const look = setInterval(() => {
  if (held() > before - ${GARBAGE_MIB / 2} && Date.now() < latest) return;
  clearInterval(look);
  console.log(JSON.stringify({ before, after: held(), exposed: 'gc' in globalThis }));
}, 20);
`;

test('what a start has left is given back although nothing more is allocated, and no program gets the collector', async () => {
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', PROGRAM]);
  const { before, after, exposed } = JSON.parse(stdout);
  expect(before).toBeGreaterThan(GARBAGE_MIB);
  expect(after).toBeLessThan(before - GARBAGE_MIB / 2);
  expect(exposed).toBe(false);
});
