/**
 * The end of one run, asked for by an administrator.
 *
 *  1. on the run's machine: end every process of the run
 *
 * The owner of the run sees that it ended and goes on by its own rules. A machine that is away for ten minutes fails this workflow.
 *
 * History: 11 events.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { RunActivities } from '../../activities/runs/contract.ts';
import { hostQueueOf } from '../../domain/engine/task-queues.ts';

export interface EndRunInput {
  runId: string;
  machine: string;
}

export async function endRunWorkflow({ runId, machine }: EndRunInput): Promise<{ ended: boolean }> {
  const { endOneRun } = proxyActivities<RunActivities>({
    taskQueue: hostQueueOf(machine),
    scheduleToStartTimeout: '10m',
    startToCloseTimeout: '2m',
    heartbeatTimeout: '30s',
    retry: { maximumAttempts: 5 },
    summary: `ends run ${runId}`,
  });
  return endOneRun({ runId });
}
