import type { NodeChange } from '../../store/propagation/plan-nodes.ts';
import type { PlanNodeRow } from '../../store/propagation/plan-tables.ts';

/** How a node stands, with what changes of it. */
export function changeOf(node: PlanNodeRow, change: Partial<NodeChange>): NodeChange {
  const { number, status, outcome, step, reason, message, code, attempts, attempt } = node;
  const { blocked_by, triggered_by, ready_at, start_time, end_time } = node;
  return {
    ...{ number, status, outcome, step, reason, message, code, attempts, attempt },
    ...{ blocked_by, triggered_by, ready_at, start_time, end_time },
    ...change,
  };
}
