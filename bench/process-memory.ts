import { readdir, readFile } from 'node:fs/promises';
import { readStat } from '../drivers/machine/process-table.ts';

/** Memory of a process, MiB; pages that several share count in parts. */
export async function memoryMiB(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? Number.NaN) / 1024;
}

/** Memory of a process and of its children, MiB; a child that ends meanwhile has none. */
export async function memoryOfAllMiB(pid: number): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const children = pids.filter((each) => readStat(each)?.parent === pid);
  const each = await Promise.all(children.map((child) => memoryMiB(child).catch(() => 0)));
  return each.reduce((sum, mib) => sum + mib, await memoryMiB(pid));
}

/** MiB as the MB of the bars. */
export const megabytes = (mib: number): number => mib * 1.048576;
