/**
 * One run of a user's schedule, started by its Schedule.
 *
 *  1. record that the run of this time begins; nothing to do when the schedule is gone or paused
 *  2. do what it is for: reconfigure, refresh, make sessions
 *  3. where sessions were made: look at them until they are complete
 *  4. whatever broke it off is recorded: a failure with its reason, a cancellation with the end of the sessions
 *
 * History: 17 events, 8 for each look at the sessions; these are up to 30 s apart, so some 12,000 a day would be: it
 * continues as new at the server's hint.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  continueAsNew,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { ScheduleRunActivities } from '../../activities/schedules/contract.ts';
import type { ScheduleRunRef } from '../../domain/schedules/activity-schema.ts';

/** A record that cannot be written now is written when the database is back. */
const { beginScheduleRun, followScheduleRun, failScheduleRun, cancelScheduleRun } =
  proxyActivities<ScheduleRunActivities>({
    startToCloseTimeout: '30s',
    scheduleToCloseTimeout: '24h',
    retry: { initialInterval: '500ms', maximumInterval: '30s' },
  });

const { performScheduleRun } = proxyActivities<ScheduleRunActivities>({
  startToCloseTimeout: '2h',
  heartbeatTimeout: '10s',
  // What it does is known only when it has stopped.
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '1s', maximumInterval: '1m', maximumAttempts: 15 },
});

/** Between two looks at the sessions, seconds: the first, and the longest. */
const FIRST_LOOK = 1;
const LONGEST_LOOK = 30;

export interface ScheduleRunInput {
  scheduleId: string;
  /** Of a run that goes on with its sessions after it continued as new. */
  following?: ScheduleRunRef;
  /** Events after which it continues as new; default: when the server suggests it. */
  maxEvents?: number;
}

export async function scheduleRunWorkflow(input: ScheduleRunInput): Promise<void> {
  // A run that began must have an end in the record, also one that is cancelled while it begins.
  const run = input.following ?? (await CancellationScope.nonCancellable(() => begin(input)));
  if (run === null) return setCurrentDetails('nothing to do: the schedule is gone or paused, or the run has ended');
  try {
    if (!input.following) setCurrentDetails(`run ${run.runId} of the schedule is working`);
    const state = input.following ? 'following' : await performScheduleRun(run);
    if (state === 'following') await follow(run, input);
  } catch (error) {
    if (isCancellation(error)) {
      await CancellationScope.nonCancellable(() => cancelScheduleRun(run));
      throw error;
    }
    if (!(error instanceof ActivityFailure)) throw error;
    await failScheduleRun({ ...run, ...reasonOf(error) });
  }
  setCurrentDetails(`run ${run.runId} of the schedule is over`);
}

function begin({ scheduleId }: ScheduleRunInput): Promise<ScheduleRunRef | null> {
  const { workflowId, searchAttributes, startTime } = workflowInfo();
  // Of the time that it is for, not of the start, which may be later by jitter or because the engine was away.
  const [scheduled] = (searchAttributes.TemporalScheduledStartTime ?? []) as Date[];
  return beginScheduleRun({ scheduleId, workflowId, scheduledAt: (scheduled ?? startTime).toISOString() });
}

async function follow(run: ScheduleRunRef, { scheduleId, maxEvents }: ScheduleRunInput): Promise<void> {
  setCurrentDetails(`run ${run.runId} of the schedule waits for its sessions`);
  for (let pause = FIRST_LOOK; ; pause = Math.min(LONGEST_LOOK, pause * 2)) {
    if (await followScheduleRun(run)) return;
    await sleep(pause * 1000, { summary: 'looks at the sessions again' });
    const { continueAsNewSuggested, historyLength } = workflowInfo();
    if (continueAsNewSuggested || (maxEvents !== undefined && historyLength > maxEvents)) {
      const more = maxEvents === undefined ? {} : { maxEvents };
      await continueAsNew<typeof scheduleRunWorkflow>({ scheduleId, following: run, ...more });
    }
  }
}

function reasonOf({ cause, message }: ActivityFailure): { code: string; detail: string } {
  if (cause instanceof ApplicationFailure) return { code: cause.type ?? 'internal', detail: cause.message };
  return { code: 'internal', detail: cause?.message ?? message };
}
