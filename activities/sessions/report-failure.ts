import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { failureOf } from '../../control/failures.ts';
import { loadSession, type NoteDependencies, noteProgress } from '../../control/sessions/session-progress.ts';
import { ERRORS, type ErrorCode, isErrorCode } from '../../domain/errors.ts';
import type { SessionPhase } from '../../domain/sessions/progress.ts';
import type { SessionRow } from '../../store/sessions/sessions.ts';
import { withHeartbeat } from '../heartbeat.ts';

/** What is being done, as the record names it. */
export interface SessionWork {
  phase: SessionPhase;
  /** Begins the sentence: `<what> failed, trying again: <why>`. */
  what: string;
  layer?: number;
  attempt?: number;
}

/**
 * Does a step of a session as an activity: with heartbeats, until the signal that the work gets. When it fails the record says what and why, as
 * long as Temporal tries it again. The work gets the session as it is when the step begins.
 * Throws `session_not_found`.
 */
export function onSession<T>(
  deps: NoteDependencies,
  sessionId: string,
  step: SessionWork,
  work: (session: SessionRow, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return onStep(deps, sessionId, step, async (signal) => work(await loadSession(deps.db, sessionId), signal));
}

/** Does a step as `onSession`, for work that begins with something else than the session. */
export function onStep<T>(
  deps: NoteDependencies,
  sessionId: string,
  step: SessionWork,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return reportFailure(deps, sessionId, step, () => withHeartbeat(work));
}

/** Does a step of a session. When it fails the record says what and why, as long as the engine tries it again. */
export async function reportFailure<T>(
  deps: NoteDependencies,
  sessionId: string,
  step: SessionWork,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CancelledFailure)) await note(deps, sessionId, step, error);
    throw error;
  }
}

function wordsOf(error: unknown): { code: ErrorCode; detail: string; final: boolean } {
  if (error instanceof ApplicationFailure && isErrorCode(error.type)) {
    return { code: error.type, detail: error.message, final: error.nonRetryable === true };
  }
  const { code, detail } = failureOf(error);
  return { code, detail, final: false };
}

async function note(deps: NoteDependencies, sessionId: string, step: SessionWork, error: unknown): Promise<void> {
  const { code, detail, final } = wordsOf(error);
  const again = ERRORS[code].retryable && !final;
  // Where the record cannot be written either, the failure itself is what counts.
  await noteProgress(deps, sessionId, { ...step, step: 'failed', detail, code, again }).catch(() => undefined);
}
