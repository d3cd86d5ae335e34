import { readFileSync } from 'node:fs';
import { livingProcesses } from '../../../drivers/machine/process-table.ts';

/** Processes that carry a run of the session in their environment, and all that descend from them. */
export async function processesOfSession(sessionId: string): Promise<number[]> {
  const living = await livingProcesses();
  const found = new Set([...living.keys()].filter((pid) => environmentOf(pid).includes(`MUSTER_RUN_ID=${sessionId}-`)));
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const { pid, parent } of living.values()) if (found.has(parent)) found.add(pid);
  }
  return [...found];
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
}
