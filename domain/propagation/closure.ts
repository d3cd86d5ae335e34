/**
 * Which actions a plan has: what is staged, and whatever reactions bring in. A dependency never brings anything in; it orders what is
 * there. The result depends on the sets alone, not on the order in which events were added.
 */
import { CONDITIONS, type PropagationEvent } from './event-schema.ts';
import { actionOf, isRemoval, resourceOf } from './node-id.ts';
import type { SuppressedEvent } from './plan-schema.ts';

/** Types of edges and conditions as one small number, in the order in which edges are sorted. */
const CODES_OF_TYPE = CONDITIONS.length;

/** The nodes of a plan before its loops are resolved, and the edges between them, sorted and without doubles. */
export interface BaseGraph {
  /** Names in plain order: the order of numbers is the order of names. */
  names: string[];
  /** 1 for what is staged. */
  staged: Uint8Array;
  /** Ends of the edges, by number of node. */
  from: Int32Array;
  to: Int32Array;
  /** Type and condition of each edge; see `edgeCode`. */
  code: Uint8Array;
  /** Events that make no edge, and why. */
  suppressed: SuppressedEvent[];
}

/** Returns the number of a type (0 dependency, 1 reaction) and a condition. */
const edgeCode = (event: PropagationEvent): number =>
  (event.type === 'react_on' ? CODES_OF_TYPE : 0) + CONDITIONS.indexOf(event.on);

/** Whether the code of an edge is that of a reaction. */
export const isReactionCode = (code: number): boolean => code >= CODES_OF_TYPE;

/** Returns type and condition of the code of an edge. */
export function ofEdgeCode(code: number): Pick<PropagationEvent, 'type' | 'on'> {
  const on = CONDITIONS[code % CODES_OF_TYPE] ?? 'any';
  return { type: isReactionCode(code) ? 'react_on' : 'depends_on', on };
}

/** Works out nodes and edges from the staged nodes and all events. */
export function closureOf(staged: readonly string[], events: readonly PropagationEvent[]): BaseGraph {
  const eventsOf = byEmitter(events);
  const removed = new Set(staged.filter(isRemoval).map(resourceOf));
  const reached = reach(staged, eventsOf, removed);
  const names = [...reached].sort(byName);
  const numbers = new Map(names.map((name, index) => [name, index]));
  const suppressed: SuppressedEvent[] = [];
  const guarded = new Set<PropagationEvent>();
  const keys: number[] = [];
  for (const [from, name] of names.entries()) {
    for (const event of eventsOf(name)) {
      if (isGuarded(event, removed)) guarded.add(event);
      else if (event.type === 'depends_on' && event.child === name) {
        suppressed.push({ ...suppressedBy('self-dependency', event), parent: name });
      } else {
        const to = numbers.get(event.child);
        if (to !== undefined) keys.push((from * names.length + to) * 2 * CODES_OF_TYPE + edgeCode(event));
      }
    }
  }
  for (const event of guarded) suppressed.push(suppressedBy('child-removed', event));
  const isStaged = new Set(staged);
  return {
    names,
    staged: Uint8Array.from(names, (name) => (isStaged.has(name) ? 1 : 0)),
    ...edgesOf(keys, names.length),
    suppressed,
  };
}

/** Plain order of code units. */
export const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function suppressedBy(reason: SuppressedEvent['reason'], event: PropagationEvent): SuppressedEvent {
  const { type, parent, on, child } = event;
  return { type, parent, on, child, reason };
}

/** Looks up the events of a node: its own, and those of every action of its resource, which a removal is not. */
function byEmitter(events: readonly PropagationEvent[]): (node: string) => readonly PropagationEvent[] {
  const lists = new Map<string, PropagationEvent[]>();
  for (const event of events) {
    const list = lists.get(event.parent);
    if (list === undefined) lists.set(event.parent, [event]);
    else list.push(event);
  }
  const none: readonly PropagationEvent[] = [];
  return (node) => {
    const own = lists.get(node) ?? none;
    const ofAll = isRemoval(node) ? undefined : lists.get(`${resourceOf(node)}.*`);
    return ofAll === undefined ? own : [...own, ...ofAll];
  };
}

/** A resource that is removed in a plan is not brought in by reactions to do anything else. */
function isGuarded(event: PropagationEvent, removed: ReadonlySet<string>): boolean {
  return event.type === 'react_on' && actionOf(event.child) !== 'remove' && removed.has(resourceOf(event.child));
}

function reach(
  staged: readonly string[],
  eventsOf: (node: string) => readonly PropagationEvent[],
  removed: ReadonlySet<string>,
): Set<string> {
  const reached = new Set(staged);
  // A set is walked in the order of insertion, and what is added meanwhile is walked too.
  for (const node of reached) {
    for (const event of eventsOf(node)) {
      if (event.type === 'react_on' && !isGuarded(event, removed)) reached.add(event.child);
    }
  }
  return reached;
}

/** Sorted edges, each once. A key holds both ends and the code in one number, which is exact up to 20 million nodes. */
function edgesOf(keys: readonly number[], count: number): Pick<BaseGraph, 'from' | 'to' | 'code'> {
  const sorted = Float64Array.from(keys).sort();
  const unique = sorted.filter((key, index) => index === 0 || key !== sorted[index - 1]);
  const pairs = unique.map((key) => Math.floor(key / (2 * CODES_OF_TYPE)));
  return {
    from: Int32Array.from(pairs, (pair) => Math.floor(pair / count)),
    to: Int32Array.from(pairs, (pair) => pair % count),
    code: Uint8Array.from(unique, (key) => key % (2 * CODES_OF_TYPE)),
  };
}
