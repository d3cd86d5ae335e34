/** What becomes of a part of the stack that stands still: SIGSTOP for three minutes, then CONT. */
import { setTimeout as delay } from 'node:timers/promises';
import { stackStatus } from '../../deploy/stack/background.ts';
import { COMPONENT_NAMES, type ComponentName } from '../../deploy/stack/stack-state.ts';
import { type MusterStack, startMusterStack } from '../../test/support/stack/muster-stack.ts';
import { type Measurement, round } from '../measurement.ts';

const STOPPED_MS = 180_000;
const BAR = { ill: 15, replaced: 120 };

/** On a stack of its own, whose servers are the embedded ones. */
export async function measureHung(): Promise<Measurement> {
  const stack = await startMusterStack({ MUSTER_PLAYBOOK_COMMAND: '/bin/true' }, 'own');
  try {
    const repository = await stack.repository('bench');
    await repository.commit({ 'one.yml': '- hosts: all\n' });
    await stack.configure('one', repository.url, ['one.yml'], ['n0']);
    const ill: number[] = [];
    const replaced: number[] = [];
    for (const name of COMPONENT_NAMES) {
      const times = await hang(stack, name);
      ill.push(times.ill);
      replaced.push(times.replaced);
      await stack.create(`after-${name}`, 'one', { ansible_limit: 'n0' });
      await stack.untilComplete(`after-${name}`, 120_000);
    }
    const [latestIll, latestReplaced] = [Math.max(...ill), Math.max(...replaced)];
    return {
      what: `each of ${COMPONENT_NAMES.join(', ')} stopped for 3 min`,
      bar: `ill within ${BAR.ill} s, replaced within ${BAR.replaced} s`,
      measured: `ill after ${round(latestIll, 0)} s, replaced after ${round(latestReplaced, 0)} s at most`,
      met: latestIll <= BAR.ill && latestReplaced <= BAR.replaced,
      samples: {
        ill_seconds: ill.map((value) => round(value, 1)),
        replaced_seconds: replaced.map((value) => round(value, 1)),
      },
    };
  } finally {
    await stack.remove();
  }
}

async function hang(stack: MusterStack, name: ComponentName): Promise<{ ill: number; replaced: number }> {
  const pid = await stack.pidOf(name);
  const begun = performance.now();
  const seconds = () => (performance.now() - begun) / 1_000;
  process.kill(pid, 'SIGSTOP');
  const times = { ill: Number.POSITIVE_INFINITY, replaced: Number.POSITIVE_INFINITY };
  while (performance.now() - begun < STOPPED_MS) {
    const state = await stackStatus(stack.dataDir);
    if (state?.state === 'degraded') times.ill = Math.min(times.ill, seconds());
    if (state?.state === 'running' && state.components[name]?.process?.pid !== pid)
      times.replaced = Math.min(times.replaced, seconds());
    await delay(200);
  }
  try {
    process.kill(pid, 'SIGCONT');
  } catch {
    // It is gone, as it should be.
  }
  return times;
}
