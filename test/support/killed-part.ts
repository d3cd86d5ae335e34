/** A part of a stack that is killed, and does not come back before the test says so. */
import { stackStatus } from '../../deploy/stack/background.ts';
import type { ComponentName } from '../../deploy/stack/stack-state.ts';
import type { MusterStack } from './stack/muster-stack.ts';

/** Kills a part by SIGKILL while the supervisor is stopped. Returns what lets the supervisor go on, which starts the part again. */
export async function killAndHold(stack: MusterStack, part: ComponentName): Promise<() => void> {
  const state = await stackStatus(stack.dataDir);
  if (state === null) throw new Error('no stack.json');
  process.kill(state.supervisor.pid, 'SIGSTOP');
  await stack.kill(part);
  return () => void process.kill(state.supervisor.pid, 'SIGCONT');
}
