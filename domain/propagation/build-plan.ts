/** From staged actions and events to a plan: which actions run, which of them twice, and what waits for what. */
import { type BaseGraph, byName, closureOf, ofEdgeCode } from './closure.ts';
import { componentsOf } from './components.ts';
import { at, type Digraph, digraphOf } from './digraph.ts';
import type { PropagationEvent } from './event-schema.ts';
import { renderEvent } from './event-text.ts';
import { DROPPED, type RepeatRules, type Resolution, type ResolvedLoop, resolveLoops } from './increment.ts';
import type { HeadRule } from './key-order.ts';
import { type Layout, layOut, ofLayoutCode } from './layout.ts';
import { occurrenceId } from './node-id.ts';
import { canonicalOrder, weightsOf } from './order.ts';
import type { PlanCycle, PlanEdge, PlanNode, SuppressedEvent } from './plan-schema.ts';

/** What is known of an action beside its name. */
export interface ActionAttributes extends RepeatRules {
  /** Where it runs; absent: nowhere in particular. */
  target?: string | null | undefined;
  /** Replaces the weight that follows from the graph. */
  weight?: number | undefined;
}

export interface PlanRequest {
  /** `resource.action` of each staged item. */
  staged: readonly string[];
  events: readonly PropagationEvent[];
  attributesOf?: (node: string) => ActionAttributes | undefined;
}

/** A loop of a plan, with why its head goes first and one way around it. */
export interface ExplainedCycle extends PlanCycle {
  rule: HeadRule;
  path: string[];
}

export interface Plan {
  /** In canonical order. */
  nodes: PlanNode[];
  /** Sorted by (from, to, type, on). */
  edges: PlanEdge[];
  /** Sorted by their first members. */
  cycles: ExplainedCycle[];
  /** Sorted by their text. */
  suppressed: SuppressedEvent[];
}

/**
 * Builds the plan. It depends on the sets of staged actions and events alone, not on their order. Time and memory grow with the events
 * of the resources in the plan. Throws `cycle_not_repeatable` with the members of the loop.
 */
export function buildPlan({ staged, events, attributesOf = () => undefined }: PlanRequest): Plan {
  const graph = closureOf(staged, events);
  const pairs = digraphOf(graph);
  const components = componentsOf(pairs);
  const found = resolveLoops(graph, pairs, components, attributesOf);
  const layout = layOut(graph, pairs, components, found);
  const nodes = nodesOf(graph, found, layout, attributesOf);
  const weights = Float64Array.from(nodes, ({ weight }) => weight);
  return {
    nodes: canonicalOrder(layout, weights).map((index) => nodes[index] as PlanNode),
    edges: Array.from(layout.code, (code, edge) => ({
      from: nodes[at(layout.from, edge)]?.id ?? '',
      to: nodes[at(layout.to, edge)]?.id ?? '',
      ...ofLayoutCode(code),
    })),
    cycles: found.loops
      .map((loop) => cycleOf(loop, graph, pairs))
      .sort((a, b) => byName(a.members[0] ?? '', b.members[0] ?? '')),
    suppressed: sortedEvents([...graph.suppressed, ...droppedEvents(graph, pairs, found)]),
  };
}

/** The occurrences in the order of their ids. */
function nodesOf(
  graph: BaseGraph,
  found: Resolution,
  layout: Layout,
  attributesOf: (node: string) => ActionAttributes | undefined,
): PlanNode[] {
  const weights = weightsOf(layout);
  return graph.names.flatMap((base, node) => {
    const isRepeated = found.repeated[node] === 1;
    const attributes = attributesOf(base);
    const occurrence = (number: 0 | 1): PlanNode => ({
      id: occurrenceId(base, number, isRepeated),
      base,
      occurrence: number,
      origin: number === 1 ? 'repeat' : graph.staged[node] === 1 ? 'staged' : 'reaction',
      weight: attributes?.weight ?? at(weights, at(layout.first, node) + number),
      target: attributes?.target || null,
    });
    return isRepeated ? [occurrence(0), occurrence(1)] : [occurrence(0)];
  });
}

function cycleOf(loop: ResolvedLoop, { names }: BaseGraph, pairs: Digraph): ExplainedCycle {
  const name = (node: number): string => names[node] ?? '';
  return {
    members: loop.members.map(name),
    head: name(loop.head),
    repeated: loop.repeated.map(name),
    // Numbers of pairs are in the order of their names.
    closed_by: [...loop.back]
      .sort((a, b) => a - b)
      .map((pair): [string, string] => [name(at(pairs.from, pair)), name(at(pairs.to, pair))]),
    rule: loop.rule,
    path: loop.path.map(name),
  };
}

/** The events that would have repeated a removal. */
function droppedEvents(graph: BaseGraph, pairs: Digraph, { role }: Resolution): SuppressedEvent[] {
  const dropped: SuppressedEvent[] = [];
  for (const [edge, code] of graph.code.entries()) {
    if (role[at(pairs.pairOfEdge, edge)] !== DROPPED) continue;
    const { type, on } = ofEdgeCode(code);
    const [parent, child] = [graph.names[at(graph.from, edge)] ?? '', graph.names[at(graph.to, edge)] ?? ''];
    dropped.push({ type, parent, on, child, reason: 'remove-cycle' });
  }
  return dropped;
}

/** Returns events by their text, each once. */
export function sortedEvents<T extends PropagationEvent>(events: readonly T[]): T[] {
  const byText = new Map(events.map((event) => [renderEvent(event), event]));
  return [...byText].sort(([a], [b]) => byName(a, b)).map(([, event]) => event);
}
