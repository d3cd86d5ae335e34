/** Figures about a plan: times, counts of statuses, how much of it is over. */
import { NODE_STATUSES, type NodeStatus } from './plan-schema.ts';
import { isTerminal } from './verdict.ts';

/** When a node began and ended, s; null where it has not. */
export interface NodeTimes {
  start?: number | null | undefined;
  end?: number | null | undefined;
}

export interface Totals {
  /** From the first start to the last end, s. */
  total_time: number;
  /** Sum of what each node took, s. */
  total_delta: number;
}

export type Summary = Record<NodeStatus, number>;

/** Returns the totals over the nodes that have both times; 0 where there are none. */
export function totals(times: Iterable<NodeTimes>): Totals {
  let [first, last, total_delta] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  for (const { start, end } of times) {
    if (typeof start !== 'number' || typeof end !== 'number') continue;
    first = Math.min(first, start);
    last = Math.max(last, end);
    total_delta += end - start;
  }
  return { total_time: last >= first ? last - first : 0, total_delta };
}

/** Returns how many nodes have each status, all statuses included. Takes a list, or statuses by node. */
export function summary(statuses: Iterable<NodeStatus> | Readonly<Record<string, NodeStatus>>): Summary {
  const counts = Object.fromEntries(NODE_STATUSES.map((status) => [status, 0])) as Summary;
  const list = Symbol.iterator in statuses ? (statuses as Iterable<NodeStatus>) : Object.values(statuses);
  for (const status of list) counts[status] += 1;
  return counts;
}

/** Returns how much of a plan is over, in whole percent, rounded down; all of an empty plan is. */
export function percent(counts: Summary): number {
  const count = (statuses: readonly NodeStatus[]): number => statuses.reduce((sum, status) => sum + counts[status], 0);
  const [all, ended] = [count(NODE_STATUSES), count(NODE_STATUSES.filter(isTerminal))];
  return all === 0 ? 100 : Math.floor((100 * ended) / all);
}
