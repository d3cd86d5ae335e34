import { isAlive } from '../../drivers/machine/process-table.ts';
import { endProcess } from './process-identity.ts';
import { COMPONENT_NAMES, type ComponentName, readStackState } from './stack-state.ts';

const STOP_SIGNALS: Record<ComponentName, NodeJS.Signals> = {
  worker: 'SIGTERM',
  api: 'SIGTERM',
  temporal: 'SIGTERM',
  postgres: 'SIGINT',
};
const KILL_AFTER_MS = 15_000;

/**
 * Ends the processes that a supervisor left behind when it was killed, recognised by pid and start time, in the order
 * of an ordinary stop. Runs are not among them: they go on and are found again by the next worker.
 * @returns names of those that were still alive
 */
export async function endLeftovers(dataDir: string): Promise<ComponentName[]> {
  const state = readStackState(dataDir);
  if (state === null) return [];
  const ended: ComponentName[] = [];
  for (const name of COMPONENT_NAMES) {
    const identity = state.components[name]?.process;
    if (!identity || !(await isAlive(identity))) continue;
    await endProcess(identity, STOP_SIGNALS[name], KILL_AFTER_MS);
    ended.push(name);
  }
  return ended;
}
