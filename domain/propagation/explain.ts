/** Why a node stands in a plan, and what the events into it made of it. */
import { musterError } from '../errors.ts';
import { decide } from './decide.ts';
import { chainTo } from './event-chain.ts';
import type { PlanIndex } from './plan-index.ts';
import type { Explanation, SuppressedEvent } from './plan-schema.ts';
import { groupsInto, type NodeState } from './run-plan.ts';
import { verdictOf } from './verdict.ts';

/**
 * Explains a node by its id, or by `x#0` for a node that is not repeated, in a plan before, during or after its run.
 * Throws `node_not_found`.
 */
export function explain(
  name: string,
  index: PlanIndex,
  states: readonly NodeState[],
  suppressed: readonly SuppressedEvent[],
): Explanation {
  const number = index.numbers.get(name) ?? index.numbers.get(name.replace(/#0$/, ''));
  const node = number === undefined ? undefined : index.nodes[number];
  const state = number === undefined ? undefined : states[number];
  if (number === undefined || node === undefined || state === undefined) {
    const repeated = index.numbers.has(`${name}#0`) ? `: write ${name}#0 or ${name}#1` : '';
    throw musterError('node_not_found', `the plan has no node ${name}${repeated}`);
  }
  const groups = groupsInto(index, states, number);
  const { status, reason, triggered_by, blocked_by } = decide(node.origin, groups);
  const why = state.reason ?? reason;
  return {
    node: node.id,
    origin: node.origin,
    chain: chainTo(node, index, suppressed),
    incoming: groups.map((group) => ({
      from: group.from.map((emitter) => emitter.node),
      type: group.type,
      on: group.on,
      ...verdictOf(group),
    })),
    decision: {
      status: state.status === 'pending' ? status : state.status,
      ...(why === undefined ? {} : { reason: why }),
      triggered_by,
      blocked_by,
    },
  };
}
