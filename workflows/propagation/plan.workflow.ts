/**
 * The driver of a plan. It holds no graph: nodes, counters and outcomes are rows, and each step reads what it needs of them.
 *
 *  1. make a step: take in what has ended, decide what follows, hand out attempts
 *  2. watch the attempts that it was given, each by an activity of its own
 *  3. wait until one of them is over, for a poke, or for as long as the step said; then again from 1, until the plan is over
 *
 * At the server's hint it continues as new and lets go of its watchers: they end no run, and the next run of the workflow gets every
 * attempt that is open. History: some 12 events for an attempt, 11 for a round that finds nothing.
 */
import { TimeoutType } from '@temporalio/common';
import {
  ActivityCancellationType,
  ActivityFailure,
  condition,
  continueAsNew,
  isCancellation,
  log,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  AdvancePlanAnswer,
  AttemptActivities,
  OpenAttempt,
  PlanActivities,
} from '../../activities/propagation/contract.ts';
import { pokePlan } from './messages.ts';

const { advancePlan } = proxyActivities<PlanActivities>({
  startToCloseTimeout: '5m',
  // A step whose worker is gone is given up soon.
  heartbeatTimeout: '15s',
  // The next round is the retry.
  retry: { maximumAttempts: 1 },
});

/** An attempt lasts as long as it lasts; a watcher that is lost is replaced. */
const WATCH = {
  startToCloseTimeout: '30d',
  heartbeatTimeout: '15s',
  retry: { maximumAttempts: 1 },
  cancellationType: ActivityCancellationType.ABANDON,
} as const;

/** How long a machine has to take an attempt whose files it has. */
const MACHINE_TAKES = '30s';
/** Rest after a step or a watcher that failed, ms. */
const AFTER_FAILURE_MS = 5_000;

export interface PlanInput {
  plan: string;
  /** Events after which it continues as new; default: when the server suggests it. */
  maxEvents?: number;
}

export async function planExecutionWorkflow({ plan, maxEvents }: PlanInput): Promise<void> {
  let isPoked = false;
  setHandler(
    pokePlan,
    () => {
      isPoked = true;
    },
    { description: 'Something was asked of the plan, or may go on: it makes a step soon.' },
  );
  const watched = new Set<string>();
  const away = new Set<string>();
  /** Whether a watcher has come back since the last step. */
  let isBack = false;

  const watch = async (attempt: OpenAttempt): Promise<void> => {
    try {
      if (!(await taken(plan, attempt))) away.add(attempt.attempt);
      watched.delete(attempt.attempt);
      isBack = true;
    } catch (error) {
      // The driver itself was cancelled: the step hears it too.
      if (!isCancellation(error)) throw error;
    }
  };

  for (;;) {
    const [own, missing] = [[...watched], [...away]];
    isPoked = false;
    isBack = false;
    away.clear();
    const answer = await step(plan, own, missing);
    // A command that came meanwhile may have started the plan again.
    if (answer.isOver && !isPoked) return;
    setCurrentDetails(answer.summary);
    const { continueAsNewSuggested, historyLength } = workflowInfo();
    if (continueAsNewSuggested || (maxEvents !== undefined && historyLength > maxEvents)) {
      await continueAsNew<typeof planExecutionWorkflow>({ plan, ...(maxEvents === undefined ? {} : { maxEvents }) });
    }
    for (const attempt of answer.attempts) {
      watched.add(attempt.attempt);
      void watch(attempt);
    }
    if (!answer.more && !answer.isOver)
      await condition(() => isPoked || isBack, answer.waitMs, { summary: 'until the next step' });
  }
}

async function step(plan: string, own: string[], away: string[]): Promise<AdvancePlanAnswer> {
  try {
    return await advancePlan({ plan, own, away });
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    log.warn('a step of the plan failed', { cause: error.cause?.message });
    await sleep(AFTER_FAILURE_MS, { summary: 'rest after a failure' });
    return { isOver: false, more: true, attempts: [], waitMs: 0, summary: 'the last step failed' };
  }
}

/** Watches an attempt until it is over or its watcher is lost. Returns whether its machine was there. */
async function taken(plan: string, { attempt, queue }: OpenAttempt): Promise<boolean> {
  const { runAttempt } = proxyActivities<AttemptActivities>(
    queue === null ? WATCH : { ...WATCH, taskQueue: queue, scheduleToStartTimeout: MACHINE_TAKES },
  );
  try {
    await runAttempt({ plan, attempt });
    return true;
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    if (isNotTaken(error)) return false;
    log.warn('a watcher of an attempt was lost', { attempt, cause: error.cause?.message });
    await sleep(AFTER_FAILURE_MS, { summary: 'rest after a lost watcher' });
    return true;
  }
}

function isNotTaken({ cause }: ActivityFailure): boolean {
  return cause instanceof TimeoutFailure && cause.timeoutType === TimeoutType.SCHEDULE_TO_START;
}
