import { readFile } from 'node:fs/promises';

/** Memory of a process, MiB; pages that several share count in parts. */
export async function memoryMiB(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? Number.NaN) / 1024;
}

/** MiB as the MB of the bars. */
export const megabytes = (mib: number): number => mib * 1.048576;
