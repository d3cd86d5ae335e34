/** Resources that run for their dependents for ever, since another client changes those dependents again and again. */
import type { Cause } from './cause.ts';
import type { ReconcileOutcome } from './resource-words.ts';

/** What is on record of the runs of a resource for its dependents. */
export interface Loop {
  /** When runs ended that were for a dependent and changed nothing, ms since 1970, the newest last. */
  recent: number[];
  /** How long (s) the next run for a dependent waits; 0: it is not slowed down. */
  delaySeconds: number;
  /** A sentence for people; null while nothing is slowed down. */
  reason: string | null;
}

/** More runs than this within this time (ms) are a loop. */
const RUNS_MAX = 10;
const WINDOW_MS = 10 * 60_000;
const FIRST_DELAY_SECONDS = 1;
const DELAY_MAX_SECONDS = 600;

export interface EndedRun {
  cause: Cause;
  outcome: ReconcileOutcome;
  /** Tasks that changed something; null where nothing ran to its end. */
  changed: number | null;
}

/**
 * Returns what is on record after a reconcile has ended; null: nothing. A run for another cause begins anew, and so does one that had something to
 * do. Each further run of a loop doubles the delay; a time of rest as long as the delay and the window ends it.
 */
export function loopAfter(before: Loop | null, { cause, outcome, changed }: EndedRun, now: Date): Loop | null {
  if (outcome === 'interrupted' || outcome === 'cancelled') return before;
  if (cause.type !== 'dependent' || outcome !== 'ok' || changed !== 0) return null;
  const at = now.getTime();
  const known = before !== null && !hasRested(before, at) ? before : null;
  const recent = [...(known?.recent ?? []), at].filter((time) => time > at - WINDOW_MS).slice(-(RUNS_MAX + 1));
  const delayBefore = known?.delaySeconds ?? 0;
  if (delayBefore === 0 && recent.length <= RUNS_MAX) return { recent, delaySeconds: 0, reason: null };
  const delaySeconds = delayBefore === 0 ? FIRST_DELAY_SECONDS : Math.min(delayBefore * 2, DELAY_MAX_SECONDS);
  return { recent, delaySeconds, reason: reasonOf(cause, delaySeconds) };
}

function hasRested({ recent, delaySeconds }: Loop, at: number): boolean {
  return delaySeconds > 0 && at - (recent.at(-1) ?? 0) > delaySeconds * 1_000 + WINDOW_MS;
}

function reasonOf({ object = 'a dependent', manager }: Cause, delaySeconds: number): string {
  const by = manager === undefined ? '' : ` by ${manager}`;
  return `${object} is changed again and again${by}, and runs change nothing: a run for a dependent waits ${delaySeconds} s`;
}

/** Returns when the next run for a dependent may begin, at the end of a run; null: at once. */
export function dependentsFrom(loop: Loop | null, now: Date): Date | null {
  return loop === null || loop.delaySeconds === 0 ? null : new Date(now.getTime() + loop.delaySeconds * 1_000);
}
