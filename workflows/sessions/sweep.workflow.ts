/**
 * The orphan sweep, started by a Schedule each minute.
 *
 *  1. compare records and workflows, end or restart what one of the two stores has lost
 *  2. on every machine that has run files: end runs that nobody owns, remove files that nobody needs
 *  3. where a machine does not answer, say so in the records of the sessions that wait for it
 *
 * History: 12 events and 6 for each machine, 12 for one that is away.
 */
import { ActivityFailure, patched, proxyActivities, TimeoutFailure } from '@temporalio/workflow';
import type { CleaningActivities, SweepActivities } from '../../activities/sessions/contract.ts';
import { hostQueueOf } from '../../domain/engine/task-queues.ts';

const { sweepSessions, noteMachineAway } = proxyActivities<SweepActivities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '30s',
  retry: { maximumAttempts: 3 },
});

export async function sweepWorkflow(): Promise<void> {
  const { hosts } = await sweepSessions();
  await Promise.all(hosts.map(cleanHost));
}

/** A machine that is away cleans up when it is back. */
async function cleanHost(host: string): Promise<void> {
  const { cleanHost: clean } = proxyActivities<CleaningActivities>({
    taskQueue: hostQueueOf(host),
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
