import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const run = promisify(execFile);
const MEMORY = join(import.meta.dirname, '..', '..', '..', 'drivers', 'machine');
const GARBAGE_MIB = 40;

/** A process that has made garbage and then allocates nothing more; prints the MiB that it holds before and in the end. */
const program = (module: string, name: string) => `
import { ${name} } from ${JSON.stringify(join(MEMORY, module))};
const held = () => process.memoryUsage().heapUsed / 2 ** 20;
let garbage = Array.from({ length: ${GARBAGE_MIB} }, () => Array.from({ length: 2 ** 17 }, (_, index) => index + 0.5));
const before = held();
garbage = null;
const latest = Date.now() + 20_000;
${name}(10);
const look = setInterval(() => {
  if (held() > before - ${GARBAGE_MIB / 2} && Date.now() < latest) return;
  clearInterval(look);
  console.log(JSON.stringify({ before, after: held(), exposed: 'gc' in globalThis }));
}, 20);
`;

test.each([
  ['after a start', 'collect-after-start.ts', 'collectAfterStart'],
  ['now and then', 'collect-now-and-then.ts', 'collectNowAndThen'],
])(
  '%s garbage is given back although nothing more is allocated, and no program gets the collector',
  async (_, module, name) => {
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program(module, name)]);
    const { before, after, exposed } = JSON.parse(stdout);
    expect(before).toBeGreaterThan(GARBAGE_MIB);
    expect(after).toBeLessThan(before - GARBAGE_MIB / 2);
    expect(exposed).toBe(false);
  },
);

test('nothing is collected while next to nothing has come together', async () => {
  const text = `
import { collectNowAndThen } from ${JSON.stringify(join(MEMORY, 'collect-now-and-then.ts'))};
import { PerformanceObserver } from 'node:perf_hooks';
let count = 0;
new PerformanceObserver((list) => {
  count += list.getEntries().filter(({ detail }) => detail.kind === 4).length;
}).observe({ entryTypes: ['gc'] });
collectNowAndThen(20);
const latest = Date.now() + 20_000;
const look = setInterval(() => {
  if (count === 0 && Date.now() < latest) return;
  clearInterval(look);
  setTimeout(() => console.log(count), 1_000);
}, 20);
`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', text]);
  expect(Number(stdout)).toBeGreaterThanOrEqual(1);
  expect(Number(stdout)).toBeLessThanOrEqual(3);
});
