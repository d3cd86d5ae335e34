/** The shortest way of events from a staged action to a node: why the node stands in the plan. */
import { byName } from './closure.ts';
import type { PropagationEvent } from './event-schema.ts';
import { renderEvent } from './event-text.ts';
import type { PlanIndex } from './plan-index.ts';
import type { Explanation, PlanNode, SuppressedEvent } from './plan-schema.ts';

/** Events that one walk looks at before it gives up. */
const MOST_STEPS = 10_000;

/** An event on the way, and where it leads: to a base node, or to the node that is explained. */
interface Hop {
  event: PropagationEvent;
  to: string | null;
}

/**
 * Walks back over reactions, since nothing else brings an action in; the last step to the second occurrence of an action may be any event
 * that leads back. Of equally short ways the first by the names of its nodes counts.
 * Returns no step for a staged node, and null where the way is too long to look for.
 */
export function chainTo(
  node: PlanNode,
  index: PlanIndex,
  suppressed: readonly SuppressedEvent[],
): Explanation['chain'] {
  if (node.origin === 'staged' || node.origin === 'control') return [];
  const first = new Map(index.nodes.flatMap((one) => (one.occurrence === 0 ? [[one.base, one] as const] : [])));
  const reactionsTo = reactionsInto(index, suppressed);
  const onward = new Map<string, Hop[]>();
  // Another way round to the first occurrence of the node itself is never shorter.
  const seen = new Set(node.origin === 'repeat' ? [] : [node.base]);
  let steps = 0;
  let level: Hop[] = (node.origin === 'repeat' ? eventsInto(index, node) : reactionsTo(node.base)).map((event) => ({
    event,
    to: null,
  }));
  while (level.length > 0) {
    steps += level.length;
    if (steps > MOST_STEPS) return null;
    const fresh = level.filter(({ event }) => !seen.has(event.parent));
    for (const hop of fresh) {
      const hops = onward.get(hop.event.parent) ?? [];
      hops.push(hop);
      onward.set(hop.event.parent, hops);
    }
    const bases = [...new Set(fresh.map(({ event }) => event.parent))].sort(byName);
    const start = bases.find((base) => first.get(base)?.origin === 'staged');
    if (start !== undefined) return steppedFrom(start, node, onward, first);
    for (const base of bases) seen.add(base);
    level = bases.flatMap((base) => reactionsTo(base).map((event) => ({ event, to: base })));
  }
  return null;
}

/** Follows the hops forward, at each step to the smallest name. */
function steppedFrom(
  start: string,
  node: PlanNode,
  onward: ReadonlyMap<string, readonly Hop[]>,
  first: ReadonlyMap<string, PlanNode>,
): Explanation['chain'] {
  const idOf = (base: string): string => first.get(base)?.id ?? base;
  const chain: NonNullable<Explanation['chain']> = [];
  for (let base: string | null = start; base !== null; ) {
    const [hop] = [...(onward.get(base) ?? [])].sort(
      (a, b) => byName(a.to ?? '', b.to ?? '') || byName(renderEvent(a.event), renderEvent(b.event)),
    );
    if (hop === undefined) return null;
    chain.push({ from: idOf(base), event: renderEvent(hop.event), to: hop.to === null ? node.id : idOf(hop.to) });
    base = hop.to;
  }
  return chain;
}

/** Looks up the reactions into a base node, those that were dropped included: they too brought the node in. */
function reactionsInto(index: PlanIndex, suppressed: readonly SuppressedEvent[]): (base: string) => PropagationEvent[] {
  const byBase = new Map<string, PropagationEvent[]>();
  const add = (event: PropagationEvent): void => {
    const events = byBase.get(event.child);
    if (events === undefined) byBase.set(event.child, [event]);
    else events.push(event);
  };
  for (const node of index.nodes) {
    for (const event of eventsInto(index, node)) if (event.type === 'react_on') add(event);
  }
  for (const event of suppressed) if (event.reason === 'remove-cycle' && event.type === 'react_on') add(event);
  return (base) => byBase.get(base) ?? [];
}

function eventsInto({ nodes, groups, numbers }: PlanIndex, node: PlanNode): PropagationEvent[] {
  return (groups[numbers.get(node.id) ?? -1] ?? []).flatMap(({ type, on, from }) => {
    const parent = nodes[from[0] ?? -1]?.base;
    return type === 'sequence' || on === null || parent === undefined ? [] : [{ type, parent, on, child: node.base }];
  });
}
