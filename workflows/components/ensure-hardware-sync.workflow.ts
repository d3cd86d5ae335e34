/**
 * Keeps the hardware sync alive, started by a Schedule each minute where a hardware manager is set.
 *
 *  1. start the sync if it does not run
 *
 * History: 11 events.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { HardwareSyncActivities } from '../../activities/components/contract.ts';

const { ensureHardwareSync } = proxyActivities<HardwareSyncActivities>({
  startToCloseTimeout: '10s',
  retry: { maximumAttempts: 3 },
});

export async function ensureHardwareSyncWorkflow(): Promise<void> {
  await ensureHardwareSync();
}
