/** Waiting for a stack that another command starts or stops in the same data directory. */
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from '../../drivers/machine/process-table.ts';
import { readStackState, type StackState } from './stack-state.ts';

const POLL_MS = 200;

/** Whether it serves requests, if not every one of its parts well. */
export const isUp = ({ state }: StackState): boolean => state === 'running' || state === 'degraded';

/** The stack as it last wrote about itself, while its supervisor lives; else null. */
export async function livingState(dataDir: string): Promise<StackState | null> {
  const state = readStackState(dataDir);
  return state !== null && (await isAlive(state.supervisor)) ? state : null;
}

/**
 * Waits until the living stack of the data directory is up or its supervisor is gone, and answers which: the state that is up, or
 * null. An abort ends it with null.
 * @param onState told what it says meanwhile, a few times a second
 */
export async function untilUpOrGone(
  dataDir: string,
  { onState, signal }: { onState: (state: StackState) => void; signal?: AbortSignal | undefined },
): Promise<StackState | null> {
  while (!signal?.aborted) {
    const state = await livingState(dataDir);
    if (state === null) return null;
    onState(state);
    if (isUp(state)) return state;
    await delay(POLL_MS, undefined, signal ? { signal } : {}).catch(() => undefined);
  }
  return null;
}
