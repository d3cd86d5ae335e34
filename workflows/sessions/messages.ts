/** Everything that can be said to or asked of a session's workflow. One object argument each; the wire name is the constant's. */
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { SessionPhase } from '../../domain/sessions/progress.ts';
import type { RetryHosts } from '../../domain/sessions/schema.ts';

export interface CancelSession {
  /** Sentence for the record: who or what cancelled. */
  reason: string;
}

export interface RetrySession {
  /** Which hosts the failed layer runs on again. */
  hosts: RetryHosts;
}

export interface WorkflowProgress {
  phase: SessionPhase;
  layer: number | null;
  attempt: number;
  message: string;
}

/** Ends the session as soon as no process of it is left; a second one changes nothing. */
export const cancelSession = defineUpdate<void, [CancelSession]>('cancelSession');
/** Ends the hold after a failure; refused with `session_not_holding`. */
export const finishDebug = defineUpdate<void>('finishDebug');
/** Runs the failed layer again while the session holds; refused with `session_not_holding`. */
export const retrySession = defineUpdate<void, [RetrySession]>('retrySession');
/** A slot may be free: ask again. */
export const slotFree = defineSignal('slotFree');
/** Components may have been given back: ask again. */
export const leasesFree = defineSignal('leasesFree');
/** What the session does now, for someone who looks at the workflow alone. */
export const getProgress = defineQuery<WorkflowProgress>('getProgress');
