import { secondsOf } from './duration.ts';
import type { Backoff } from './watch-entry.ts';

/** How often in a row a resource failed, and how often its run was interrupted. */
export interface Counts {
  failures: number;
  interruptions: number;
}

/** A run that is interrupted begins again so often in a row; after that it has failed. */
const INTERRUPTIONS = 3;
/** A period is stretched by up to so much, so that resources which began together do not run together for ever. */
const STRETCH = 0.1;

/** Returns after how long (s) a resource runs again, when so many runs before this failure have failed in a row. */
export function backOffSeconds({ initial, factor, max }: Backoff, failuresBefore: number): number {
  return Math.min(secondsOf(initial) * factor ** failuresBefore, secondsOf(max));
}

/** Returns the counts after a run. A cancelled run is no failure and no success. */
export function countsAfter(counts: Counts, outcome: 'ok' | 'failed' | 'cancelled' | 'interrupted'): Counts {
  if (outcome === 'ok') return { failures: 0, interruptions: 0 };
  if (outcome === 'cancelled') return { failures: counts.failures, interruptions: 0 };
  if (outcome === 'failed') return { failures: counts.failures + 1, interruptions: 0 };
  return { failures: counts.failures, interruptions: counts.interruptions + 1 };
}

/** Returns what an interrupted run counts as: after three in a row it has failed. */
export function interruptedAs({ interruptions }: Counts): 'interrupted' | 'failed' {
  return interruptions < INTERRUPTIONS ? 'interrupted' : 'failed';
}

/** Returns the counts of a resource before a run: a changed resource begins anew. */
export function countsBefore(counts: Counts, generationOfLastRun: number | null, generation: number): Counts {
  return generationOfLastRun === generation ? counts : { failures: 0, interruptions: 0 };
}

/** Returns the period (s) until the next run, stretched at random; `random` is from 0 to 1. */
export function stretchedPeriod(seconds: number, random: number): number {
  return seconds * (1 + STRETCH * random);
}
