/** How a plan ended, from how its nodes ended. */
import type { PlanNode, PlanResult } from './plan-schema.ts';
import { aggregateOf, type Emitter, isSuccess } from './verdict.ts';

export interface PlanEnd {
  result: PlanResult;
  /** Actions whose first occurrence failed and whose second succeeded. */
  recovered: string[];
  /** Second occurrences that still changed something: the loop has not settled. */
  unsettled: string[];
}

/** Returns the result of a plan all of whose nodes have ended. */
export function planEnd(
  nodes: readonly (Pick<PlanNode, 'id' | 'base' | 'occurrence' | 'origin'> & Omit<Emitter, 'node'>)[],
): PlanEnd {
  const byBase = new Map<string, Emitter[]>();
  for (const { id, base, occurrence, status, outcome } of nodes) {
    const occurrences = byBase.get(base) ?? [];
    occurrences.push({ node: id, occurrence, status, outcome });
    byBase.set(base, occurrences);
  }
  const ends = [...byBase].map(([base, occurrences]) => ({ base, occurrences, aggregate: aggregateOf(occurrences) }));
  const passed = ends.filter(({ aggregate }) => aggregate === 'none' || isSuccess(aggregate));
  const isStopped = ends.some(({ aggregate }) => aggregate === 'skipped');
  return {
    result: passed.length === ends.length ? 'succeeded' : isStopped ? 'stopped' : 'failed',
    recovered: passed
      .filter(({ occurrences }) => occurrences.some(({ status }) => status === 'error'))
      .map(({ base }) => base)
      .sort(),
    unsettled: nodes
      .filter(({ origin, outcome }) => origin === 'repeat' && (outcome === 'changed' || outcome === 'created'))
      .map(({ id }) => id)
      .sort(),
  };
}
