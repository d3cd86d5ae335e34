/** From the request to cancel a session to the moment at which no process of its playbook is left. */
import { setTimeout as delay } from 'node:timers/promises';
import { readClaim } from '../../drivers/local-runner/run-files.ts';
import { isAlive, type Processes, processesOf } from '../../drivers/machine/process-table.ts';
import { eventually } from '../../test/support/eventually.ts';
import { filesOfRun, type MusterStack } from '../../test/support/stack/muster-stack.ts';
import { bareKill } from '../bare-kill.ts';
import type { BareRun } from '../bare-run.ts';
import { type CancelTimes, heldByLongest } from '../cancel-times.ts';
import { countSleepers, ENDLESS, type EndlessPlay } from '../endless-plays.ts';
import type { Measurement } from '../measurement.ts';

const BAR_S = 10;
const ROUNDS = 5;
const LOOK_MS = 50;

/** There is a configuration for each endless play; `bare` says what runs the same playbook without Muster. */
export async function measureCancel(
  stack: MusterStack,
  limit: string,
  bare: (playbook: string) => BareRun,
): Promise<Measurement> {
  const found = new Map<EndlessPlay, CancelTimes[]>();
  for (const kind of Object.keys(ENDLESS) as EndlessPlay[]) {
    const times: CancelTimes[] = [];
    for (let index = 0; index < ROUNDS; index += 1) {
      const killed = await bareKill(bare(`${kind}.yml`), ENDLESS[kind].sleepers);
      times.push({ ...(await cancelled(stack, kind, limit, String(index))), bare: killed });
    }
    found.set(kind, times);
  }
  return heldByLongest('cancel to the last process gone', `<= ${BAR_S} s`, BAR_S, found);
}

async function cancelled(
  stack: MusterStack,
  kind: EndlessPlay,
  limit: string,
  label: string,
): Promise<Omit<CancelTimes, 'bare'>> {
  const name = await stack.create(`c-${kind}-${label}-${Date.now() % 1e6}`, kind, { ansible_limit: limit });
  const { id } = await stack.session(name);
  const runId = `${id}-1-0`;
  const known = await eventually(`the tasks of ${name} are at work`, async () => {
    const all = await processesOf(runId, {}, new Map());
    return (await countSleepers(all.keys())) >= ENDLESS[kind].sleepers ? all : null;
  });
  const started = performance.now();
  const passed = () => (performance.now() - started) / 1000;
  const { status } = await stack.call('POST', `/api/v1/sessions/${name}/cancel`, {});
  if (status !== 202) throw new Error(`cancel of ${name}: ${status}`);
  const [gone, complete] = await Promise.all([
    untilNone(stack, runId, known).then(passed),
    stack.untilComplete(name).then(passed),
  ]);
  return { gone, complete };
}

/** Waits until neither the launcher of a run nor any process that it started is left. */
async function untilNone(stack: MusterStack, runId: string, known: Processes): Promise<void> {
  const launcher = await readClaim(filesOfRun(stack, runId));
  for (let left = known; ; await delay(LOOK_MS)) {
    left = await processesOf(runId, {}, left);
    if (left.size === 0 && (launcher === null || !(await isAlive(launcher)))) return;
  }
}
