/**
 * The batcher: one workflow for all, which only waits; what it knows is in the database.
 *
 *  1. make a pass
 *  2. rest a little, so that many pokes are one pass
 *  3. wait for a poke or for the instant that the pass named, at most option batcher_check_interval; then again from 1
 *
 * History: some 13 events a round, so about an hour of the default interval until it continues as new.
 */
import {
  ActivityFailure,
  condition,
  continueAsNew,
  isCancellation,
  log,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { BatcherActivities, PassAnswer } from '../../activities/batches/contract.ts';
import { pokeBatcher } from './messages.ts';

const { runBatcherPass } = proxyActivities<BatcherActivities>({
  startToCloseTimeout: '10m',
  // The next round is the retry, with a pass of its own.
  retry: { maximumAttempts: 1 },
  heartbeatTimeout: '10s',
});

/** Rest after a pass that failed. */
const AFTER_FAILURE: PassAnswer = { waitMs: 5_000, nextAt: 0, restMs: 5_000, summary: 'the last pass failed' };

export interface BatcherInput {
  /** A poke that came too late for the run before. */
  poked?: boolean;
  /** Events after which it continues as new; default: when the server suggests it. */
  maxEvents?: number;
}

export async function batcherWorkflow({ poked = false, maxEvents }: BatcherInput = {}): Promise<void> {
  let isPoked = poked;
  setHandler(
    pokeBatcher,
    () => {
      isPoked = true;
    },
    { description: 'Something may be behind, or may go on: the batcher makes a pass soon.' },
  );
  for (;;) {
    const asked = isPoked;
    isPoked = false;
    const { waitMs, nextAt, restMs, summary } = await pass(asked);
    setCurrentDetails(summary);
    await sleep(restMs, { summary: 'rest' });
    // A clock that differs from the engine's does not make it wait longer than was said.
    const left = Math.min(nextAt - Date.now(), waitMs - restMs);
    if (left > 0) await condition(() => isPoked, left, { summary: 'until the next pass' });
    const { continueAsNewSuggested, historyLength } = workflowInfo();
    if (continueAsNewSuggested || (maxEvents !== undefined && historyLength > maxEvents)) {
      const input: BatcherInput = { poked: isPoked, ...(maxEvents === undefined ? {} : { maxEvents }) };
      await continueAsNew<typeof batcherWorkflow>(input);
    }
  }
}

async function pass(poked: boolean): Promise<PassAnswer> {
  try {
    return await runBatcherPass({ poked });
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    log.warn('a pass failed', { cause: error.cause?.message });
    return AFTER_FAILURE;
  }
}
