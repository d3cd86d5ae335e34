/** What API, worker and their supervisor cost when nothing happens. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { MusterStack } from '../../test/support/stack/muster-stack.ts';
import { cpuOf } from '../bare-run.ts';
import { type Measurement, round } from '../measurement.ts';
import { megabytes, memoryMiB } from '../process-memory.ts';

const WATCHED_MS = 40_000;
/** Compilers and collectors go on for a while after the start. */
const SETTLE_MS = 20_000;

export async function measureIdle(stack: MusterStack): Promise<Measurement> {
  const pids = await Promise.all([stack.pidOf('api'), stack.pidOf('worker'), supervisorOf(stack)]);
  await delay(SETTLE_MS);
  const before = await Promise.all(pids.map(cpuOf));
  await delay(WATCHED_MS);
  const after = await Promise.all(pids.map(cpuOf));
  const cpu = after.reduce((sum, value, index) => sum + value - (before[index] ?? 0), 0) / (WATCHED_MS / 1000);
  const memory = (await Promise.all(pids.map(memoryMiB))).reduce((a, b) => a + b);
  return {
    what: 'idle API, worker and supervisor',
    bar: '< 350 MB, < 2 % CPU',
    measured: `${round(megabytes(memory), 0)} MB, ${round(cpu * 100, 1)} % of one core`,
    met: megabytes(memory) < 350 && cpu < 0.02,
    samples: { mib: [round(memory, 1)], cpu_share: [round(cpu, 4)] },
  };
}

async function supervisorOf(stack: MusterStack): Promise<number> {
  const { supervisor } = JSON.parse(await readFile(join(stack.dataDir, 'stack.json'), 'utf8'));
  return supervisor.pid;
}
