/** When a resource runs again after a reconcile, and what is said of it until then. */
import { backOffSeconds, type Counts, countsAfter, countsBefore, stretchedPeriod } from './back-off.ts';
import { type CauseType, urgencyOf } from './cause.ts';
import type { Next } from './decide-end.ts';
import type { Phase, ReconcileOutcome } from './resource-words.ts';
import type { Backoff } from './watch-entry.ts';

export interface After {
  counts: Counts;
  phase: Phase;
  /** A sentence for people. */
  reason: string;
  /** Null: no time is set. */
  due: { inSeconds: number; urgency: number; cause: { type: CauseType; attempt?: number }; reason: string } | null;
  /** As the record has it, without stretching. */
  requeueAfterSeconds: number | null;
  requeueReason: string | null;
}

export interface Reconciled {
  outcome: ReconcileOutcome;
  next: Next;
  before: Counts;
  generationOfLastRun: number | null;
  generation: number | null;
  backoff: Backoff;
  /** From 0 to 1. */
  random: number;
}

/** Returns what follows from the end of a reconcile. */
export function afterReconcile(ended: Reconciled): After {
  const { outcome, next, generation, generationOfLastRun } = ended;
  const before = generation === null ? ended.before : countsBefore(ended.before, generationOfLastRun, generation);
  const none = { due: null, requeueAfterSeconds: null, requeueReason: null };
  if (outcome === 'gone') return { ...none, counts: before, phase: 'gone', reason: 'the resource is no more' };
  if (outcome === 'refused') {
    return {
      ...none,
      counts: before,
      phase: 'waiting',
      reason: 'it is being deleted and has no finalizer of this operator',
    };
  }
  const counts = countsAfter(before, outcome);
  if (outcome === 'interrupted') {
    const due = {
      inSeconds: 0,
      urgency: urgencyOf('retry'),
      cause: { type: 'retry' as const, attempt: counts.interruptions },
      reason: 'its run was interrupted',
    };
    return { ...none, counts, phase: 'queued', reason: 'its run was interrupted: it runs again', due };
  }
  if (next.when === 'back_off') {
    const inSeconds = backOffSeconds(ended.backoff, before.failures);
    const due = {
      inSeconds,
      urgency: urgencyOf('retry'),
      cause: { type: 'retry' as const, attempt: counts.failures },
      reason: 'back-off',
    };
    const reason = `failed ${counts.failures === 1 ? 'once' : `${counts.failures} times in a row`}: it runs again after ${inSeconds} s`;
    return { ...none, counts, phase: 'backing_off', reason, due, requeueReason: 'back_off' };
  }
  if (next.when === 'now') {
    const due = { inSeconds: 0, urgency: urgencyOf('deleted'), cause: { type: 'deleted' as const }, reason: 'deleted' };
    return { ...none, counts, phase: 'deleting', reason: 'it was deleted during its run', due };
  }
  if (next.when === 'event') return { ...none, counts, phase: 'waiting', reason: 'waits for a change' };
  const inSeconds = next.reason === 'period' ? stretchedPeriod(next.seconds, ended.random) : next.seconds;
  return {
    counts,
    phase: 'waiting',
    reason: next.reason === 'period' ? 'waits for a change or its period' : 'waits as its playbook asked for',
    due: { inSeconds, urgency: urgencyOf('timer'), cause: { type: 'timer' }, reason: next.reason },
    requeueAfterSeconds: next.seconds,
    requeueReason: next.reason,
  };
}
