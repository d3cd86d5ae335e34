/** Tests that once depended on time, again and again while all cores are busy. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Measurement } from '../measurement.ts';

const TIMES = 200;
const ROOT = join(import.meta.dirname, '..', '..');

/** Suite, file and name of each. */
const TESTS = [
  ['api', 'test/access/listener.api.test.ts', 'takes a renewed certificate, not half of one'],
  ['activity', 'test/sessions/cluster/cluster-client.activity.test.ts', 'answers that go on take none from others'],
] as const;

/** `MUSTER_BENCH_TIMES`: so often each. */
export async function measureFlaky(): Promise<Measurement> {
  const times = Number(process.env.MUSTER_BENCH_TIMES ?? TIMES);
  const burners = Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  const failures: Record<string, number[]> = {};
  try {
    for (const [suite, file, name] of TESTS) failures[name] = [await failuresOf(suite, file, name, times)];
  } finally {
    for (const burner of burners) burner.kill('SIGKILL');
  }
  const failed = Object.values(failures).reduce((sum, [count = 0]) => sum + count, 0);
  return {
    what: `${TESTS.length} tests ${times} times, all cores busy`,
    bar: 'none fails',
    measured: `${failed} of ${TESTS.length * times} failed`,
    met: failed === 0,
    samples: failures,
  };
}

async function failuresOf(suite: string, file: string, name: string, times: number): Promise<number> {
  let failed = 0;
  for (let time = 0; time < times; time += 1) if (!(await passes(suite, file, name))) failed += 1;
  return failed;
}

/** Whether the test ran and passed; one that was left out did not. */
async function passes(suite: string, file: string, name: string): Promise<boolean> {
  const words = ['--selectProjects', suite, '--runTestsByPath', file, '-t', name, '--json', '--silent'];
  const jest = spawn(process.execPath, ['node_modules/jest/bin/jest.js', ...words], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let text = '';
  jest.stdout.on('data', (data) => {
    text += data;
  });
  await once(jest, 'close');
  const report = text.slice(text.indexOf('{'));
  if (report === '') return false;
  const { numPassedTests, numFailedTests } = JSON.parse(report);
  return numPassedTests === 1 && numFailedTests === 0;
}
