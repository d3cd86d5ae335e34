/** A plan by number of node: which events lead into each node, and what follows it. */
import type { Plan } from './build-plan.ts';
import type { PlanEdge, PlanNode } from './plan-schema.ts';

/** An event into a node: the emitter's occurrences by number. */
export interface GroupIndex extends Pick<PlanEdge, 'type' | 'on'> {
  from: number[];
}

export interface PlanIndex {
  /** In canonical order. */
  nodes: readonly PlanNode[];
  numbers: ReadonlyMap<string, number>;
  /** Events into each node. */
  groups: GroupIndex[][];
  /** Ends of the edges that leave each node; a node stands there once for each edge. */
  followers: number[][];
}

/** Indexes the nodes and edges of a plan. Edges from both occurrences of an action with one type and condition are one event. */
export function indexPlan({ nodes, edges }: Pick<Plan, 'nodes' | 'edges'>): PlanIndex {
  const numbers = new Map(nodes.map(({ id }, index) => [id, index]));
  const groups: GroupIndex[][] = nodes.map(() => []);
  const followers: number[][] = nodes.map(() => []);
  const known = new Map<string, GroupIndex>();
  for (const { from, to, type, on } of edges) {
    const [source, target] = [numbers.get(from), numbers.get(to)];
    if (source === undefined || target === undefined)
      throw new Error(`edge ${from} -> ${to} has an end outside of the plan`);
    followers[source]?.push(target);
    const base = nodes[source]?.base ?? from;
    const key = `${type} ${base} ${on} ${to}`;
    const group = known.get(key);
    if (group !== undefined) group.from.push(source);
    else {
      const added = { type, on, from: [source] };
      known.set(key, added);
      groups[target]?.push(added);
    }
  }
  return { nodes, numbers, groups, followers };
}
