/**
 * The hardware sync: one workflow for all, which only waits; what it knows is in the database.
 *
 *  1. make components of new nodes, if it is time; end where there is no hardware manager
 *  2. wait as long as the pass says, then again from 1
 *
 * History: some 11 events a round, so about an hour of the default interval until it continues as new.
 */
import {
  ActivityFailure,
  continueAsNew,
  isCancellation,
  log,
  proxyActivities,
  setCurrentDetails,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { HardwareSyncActivities, HardwareSyncAnswer } from '../../activities/components/contract.ts';

const { syncHardware } = proxyActivities<HardwareSyncActivities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '30s',
  // The next round is the retry.
  retry: { maximumAttempts: 1 },
});

const AFTER_FAILURE: HardwareSyncAnswer = { waitMs: 5_000, summary: 'the last pass was broken off' };

export interface HardwareSyncInput {
  /** Events after which it continues as new; default: when the server suggests it. */
  maxEvents?: number;
}

export async function hardwareSyncWorkflow(input: HardwareSyncInput = {}): Promise<void> {
  const { maxEvents } = input;
  for (;;) {
    const answer = await pass();
    if (answer === null) return;
    setCurrentDetails(answer.summary);
    await sleep(answer.waitMs, { summary: 'until the next pass' });
    const { continueAsNewSuggested, historyLength } = workflowInfo();
    if (continueAsNewSuggested || (maxEvents !== undefined && historyLength > maxEvents)) {
      await continueAsNew<typeof hardwareSyncWorkflow>(input);
    }
  }
}

async function pass(): Promise<HardwareSyncAnswer | null> {
  try {
    return await syncHardware();
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    log.warn('a pass of the hardware sync was broken off', { cause: error.cause?.message });
    return AFTER_FAILURE;
  }
}
