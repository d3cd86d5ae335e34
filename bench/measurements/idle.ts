/** What API and worker cost when nothing happens. */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { MusterStack } from '../../test/support/muster-stack.ts';
import { cpuOf } from '../bare-run.ts';
import { type Measurement, round } from '../measurement.ts';

const WATCHED_MS = 20_000;

export async function measureIdle(stack: MusterStack): Promise<Measurement> {
  const pids = await Promise.all([stack.pidOf('api'), stack.pidOf('worker')]);
  const before = await Promise.all(pids.map(cpuOf));
  await delay(WATCHED_MS);
  const after = await Promise.all(pids.map(cpuOf));
  const cpu = after.reduce((sum, value, index) => sum + value - (before[index] ?? 0), 0) / (WATCHED_MS / 1000);
  const memory = (await Promise.all(pids.map(residentMiB))).reduce((a, b) => a + b);
  return {
    what: 'idle API and worker',
    bar: '< 350 MB, < 2 % CPU',
    measured: `${round(memory, 0)} MiB, ${round(cpu * 100, 1)} % of one core`,
    met: memory < 350 && cpu < 0.02,
    samples: { mib: [round(memory, 1)], cpu_share: [round(cpu, 4)] },
  };
}

async function residentMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024;
}
