/**
 * Keeps the batcher alive, started by a Schedule each minute.
 *
 *  1. start the batcher if it does not run
 *
 * History: 11 events.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { BatcherActivities } from '../../activities/batches/contract.ts';

const { ensureBatcher } = proxyActivities<BatcherActivities>({
  startToCloseTimeout: '10s',
  retry: { maximumAttempts: 3 },
});

export async function ensureBatcherWorkflow(): Promise<void> {
  await ensureBatcher();
}
