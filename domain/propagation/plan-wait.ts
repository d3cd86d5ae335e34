/** When a plan that runs cannot go on by itself, and when webhooks are told of it. */
import type { PlanWait } from './plan-states.ts';

/** A plan that cannot go on by itself for so long is told of, ms. */
const TELL_AFTER_MS = 300_000;

/**
 * Returns what a plan waits for that is not in its own hands; null while something of it goes on, or nothing of it waits. `away`: for each
 * open attempt whether its machine is away.
 */
export function waitOf(away: readonly boolean[], waitsForLease: boolean): PlanWait | null {
  if (away.some((isAway) => !isAway)) return null;
  if (away.length > 0) return 'machine';
  return waitsForLease ? 'lease' : null;
}

export interface NotedWait {
  waits_for: PlanWait | null;
  waits_since: Date | null;
  waits_told: readonly PlanWait[] | null;
}

/** Returns how the wait of a plan is noted now, and whether webhooks are to be told: once for each plan and reason. */
export function nextWait(known: NotedWait, wait: PlanWait | null, now: Date): NotedWait & { isToTell: boolean } {
  const since = wait === known.waits_for ? known.waits_since : now;
  const told = known.waits_told ?? [];
  const isOld = since !== null && now.getTime() - since.getTime() >= TELL_AFTER_MS;
  const isToTell = wait !== null && isOld && !told.includes(wait);
  return {
    waits_for: wait,
    waits_since: wait === null ? null : since,
    waits_told: isToTell ? [...told, wait] : known.waits_told,
    isToTell,
  };
}
