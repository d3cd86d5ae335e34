/** What a session's workflow knows while it runs, and what every part of it does with that. */
import {
  ApplicationFailure,
  CancellationScope,
  condition,
  proxyLocalActivities,
  setCurrentDetails,
} from '@temporalio/workflow';
import type { SessionEnding, SessionRecords } from '../../activities/sessions/contract.ts';
import type { CheckCounts } from '../../domain/components/drift-schema.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import { progressOf, type SessionStep, WAITS_FOR_SLOT } from '../../domain/sessions/progress.ts';
import type { RetrySession, WorkflowProgress } from './messages.ts';

/** A cancelled activity is over when its work has stopped, not when it was told to; the SDK's default does not wait. */
export const WHEN_IT_HAS_STOPPED = 'WAIT_CANCELLATION_COMPLETED';

/** Short database writes, beside the workflow. */
export const records = proxyLocalActivities<SessionRecords>({
  startToCloseTimeout: '20s',
  retry: { initialInterval: '200ms', maximumInterval: '10s' },
});

export type Ending = Omit<SessionEnding, 'sessionId'>;

export interface State {
  progress: WorkflowProgress;
  /** `timeoutSeconds`: where that is why. */
  cancel: { reason: string; code: ErrorCode; timeoutSeconds?: number } | null;
  slot: boolean;
  leases: boolean;
  holding: boolean;
  finish: boolean;
  retry: RetrySession | null;
  /** The hosts of the session in a few words; undefined until its inventory is there. */
  aim: string | undefined;
  /** Of a check: what it has seen until now. */
  checked: CheckCounts | null;
}

export function newState(): State {
  return {
    progress: { phase: 'queued', layer: null, attempt: 1, message: WAITS_FOR_SLOT },
    cancel: null,
    slot: false,
    leases: false,
    holding: false,
    finish: false,
    retry: null,
    aim: undefined,
    checked: null,
  };
}

export function requestCancel(state: State, reason: string, code: ErrorCode, timeoutSeconds?: number): void {
  state.cancel ??= { reason, code, ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }) };
}

export function throwIfCancelled(state: State): void {
  if (state.cancel !== null) throw ApplicationFailure.nonRetryable(state.cancel.reason, state.cancel.code);
}

/** Runs `work` in a scope of its own that a cancel ends. What is done before it hears of the cancel counts as done. */
export async function unlessCancelled<T>(state: State, work: () => Promise<T>): Promise<T> {
  throwIfCancelled(state);
  const scope = new CancellationScope();
  const result = scope.run(work);
  result.catch(() => undefined);
  await Promise.race([result, condition(() => state.cancel !== null)]);
  if (state.cancel !== null) scope.cancel();
  return await result;
}

/** The end of a session that was cancelled. */
export const cancelled = ({ reason, code }: NonNullable<State['cancel']>): Ending => ({
  succeeded: 'false',
  message: reason,
  reason: code,
});

/** Shows what the session does, in its query and in Temporal's web UI. */
export function show(state: State, step: SessionStep): void {
  const { phase, message, layer = state.progress.layer } = progressOf(step);
  Object.assign(state.progress, { phase, layer, message });
  setCurrentDetails(`**${phase}** (attempt ${state.progress.attempt}): ${message}`);
}
