/**
 * The sweep: one workflow for all, which every worker starts where it does not run. A Schedule asks for a single pass, for the case that no
 * worker does.
 *
 *  1. lane by lane: find records that want something and have no workflow, and tell Temporal again; compare sessions and their workflows, end
 *     or restart what one of the two stores has lost
 *  2. on every machine that has run files: end runs that nobody owns, remove files that nobody needs
 *  3. where a machine does not answer, say so in the records of the sessions that wait for it
 *  4. wait for the rest of the minute, then again from 1; a machine that still cleans up keeps nothing from its time
 *
 * History of a pass: 17 events and 6 for each machine, 12 for one that is away. It continues as new after an hour, when all machines have
 * cleaned up, or after two.
 */
import {
  ActivityFailure,
  continueAsNew,
  isCancellation,
  log,
  patched,
  proxyActivities,
  setCurrentDetails,
  sleep,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { CleaningActivities, SweepActivities } from '../../activities/sessions/contract.ts';
import { hostQueueOf } from '../../domain/engine/task-queues.ts';

const { sweepSessions, noteMachineAway } = proxyActivities<SweepActivities>({
  startToCloseTimeout: '11m',
  heartbeatTimeout: '30s',
  retry: { maximumAttempts: 3 },
});

/** Passes of one run. */
const PASSES = 60;
/** Shortest rest (ms) after a pass that took longer than its time. */
const REST_MS = 5_000;

export interface SweepInput {
  /** Time (ms) from the beginning of one pass to the next. Absent: there is one pass. */
  everyMs?: number;
  /** Passes after which it continues as new; default 60. */
  passes?: number;
}

export async function sweepWorkflow(input: SweepInput = {}): Promise<void> {
  const { everyMs, passes = PASSES } = input;
  if (everyMs === undefined) {
    const { hosts } = await sweepSessions();
    await Promise.all(hosts.map(cleanHost));
    return;
  }
  const cleaning = new Set<string>();
  for (let count = 1; ; count += 1) {
    const began = Date.now();
    for (const host of await machinesAfterPass()) {
      if (!cleaning.has(host)) void cleanBeside(host, cleaning);
    }
    const busy = cleaning.size === 0 ? '' : `; cleans up on ${[...cleaning].sort().join(', ')}`;
    setCurrentDetails(`pass ${count} is made${busy}`);
    await sleep(Math.max(REST_MS, began + everyMs - Date.now()), { summary: 'until the next pass' });
    const isLong = workflowInfo().continueAsNewSuggested || count >= 2 * passes;
    if (isLong || (count >= passes && cleaning.size === 0)) await continueAsNew<typeof sweepWorkflow>(input);
  }
}

/** Makes a pass over the records. Returns the machines to clean up; none after a pass that failed, which comes again. */
async function machinesAfterPass(): Promise<string[]> {
  try {
    return (await sweepSessions()).hosts;
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    log.warn('a pass of the sweep failed', { cause: error.cause?.message });
    return [];
  }
}

async function cleanBeside(host: string, cleaning: Set<string>): Promise<void> {
  cleaning.add(host);
  try {
    await cleanHost(host);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    log.warn('the sweep could not note that a machine is away', { host, cause: error.cause?.message });
  } finally {
    cleaning.delete(host);
  }
}

/** A machine that is away cleans up when it is back. */
async function cleanHost(host: string): Promise<void> {
  const { cleanHost: clean } = proxyActivities<CleaningActivities>({
    taskQueue: hostQueueOf(host),
    summary: `machine ${host}`,
    scheduleToStartTimeout: '45s',
    startToCloseTimeout: '10m',
    heartbeatTimeout: '30s',
    retry: { maximumAttempts: 2 },
  });
  try {
    await clean();
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    if (error.cause instanceof TimeoutFailure && patched('machine-away')) await noteMachineAway({ host });
  }
}
