import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  isCancellation,
  TemporalFailure,
} from '@temporalio/workflow';
import { isLost } from '../../domain/sessions/cluster/job-outcome.ts';
import { type RecordedEnd, SESSION_FAILED, type SessionResult } from '../../domain/sessions/session-result.ts';
import { imageSilence, reasonOf } from './images/image-silence.ts';
import { cancelled, type Ending, type State } from './session-state.ts';

/** Message and reason of an end because nobody answered for an activity. */
export type Silence = (failure: ActivityFailure) => Pick<Ending, 'message' | 'reason'>;

const machineSilence: Silence = ({ activityType }) => ({
  message: `${activityType} got no answer from the machine that has the workspace`,
  reason: 'runner_gone',
});

/** The end of a session that broke off: cancelled, refused by a rule, or something could not be found out. */
export function endingOf(error: unknown, state: State, silence: Silence = machineSilence): Ending {
  if (!(error instanceof TemporalFailure)) throw error;
  const cause = error instanceof ActivityFailure ? error.cause : error;
  const gone = error instanceof ActivityFailure && !(cause instanceof ApplicationFailure) && !isCancellation(error);
  // Of a run that nobody answers for, nobody knows whether it still works, cancelled or not.
  const runIsLeft = gone && (error.activityType === 'runLayer' || error.activityType === 'endRun');
  if (state.cancel !== null && !runIsLeft) return cancelled(state.cancel);
  if (cause instanceof ApplicationFailure) {
    const succeeded = isLost(cause.type) ? 'unknown' : 'false';
    return { succeeded, message: cause.message, reason: reasonOf(cause) };
  }
  if (!gone) throw error;
  return { succeeded: runIsLeft ? 'unknown' : 'false', ...(imageSilence(error) ?? silence(error)) };
}

/**
 * What Temporal shows of the session: the result of one that succeeded; the failure of one that did not, with the same object and the code
 * of its reason; a cancellation of one that was cancelled, wherever that was asked for.
 */
export function closeAs({ reason, ...result }: RecordedEnd): SessionResult {
  if (result.succeeded === 'true') return result;
  if (reason === 'cancelled') throw new CancelledFailure(result.message);
  throw ApplicationFailure.nonRetryable(result.message, SESSION_FAILED, result, reason);
}
