/**
 * Loops are resolved by repeating an action: the head of a loop goes first, the rest runs with its result, and what the loop leads back
 * to runs once more. Each action runs at most twice.
 */
import { musterError } from '../errors.ts';
import { someOf } from '../some-of.ts';
import type { BaseGraph } from './closure.ts';
import type { Components } from './components.ts';
import { at, type Digraph } from './digraph.ts';
import { byKey, type HeadRule, type Keys, ruleBetween } from './key-order.ts';
import { type Loop, type LoopSearch, loopOf, searchFrom } from './loop-search.ts';
import { isRemoval } from './node-id.ts';

/** What the definition of an action, or a caller, says of repeating it. */
export interface RepeatRules {
  /** Default: true. */
  repeatable?: boolean | undefined;
  /** The highest of a loop goes first. Default: 0. */
  repeat_priority?: number | undefined;
}

/** How a loop was resolved, by number of node. */
export interface ResolvedLoop {
  members: readonly number[];
  head: number;
  rule: HeadRule;
  repeated: number[];
  /** Pairs that lead back. */
  back: number[];
  /** One way around, from the head. */
  path: number[];
}

export interface Resolution {
  loops: ResolvedLoop[];
  /** 1 for nodes that run twice. */
  repeated: Uint8Array;
  /** What a pair is: `FORWARD`, `BACK` or `DROPPED`. */
  role: Uint8Array;
}

export const FORWARD = 0;
export const BACK = 1;
export const DROPPED = 2;

/** Heads that are tried before a loop counts as one that cannot be resolved. */
const MOST_HEADS = 16;

/** Resolves all loops, those first that others wait for. Throws `cycle_not_repeatable` with the members of the loop. */
export function resolveLoops(
  graph: BaseGraph,
  pairs: Digraph,
  components: Components,
  rulesOf: (node: string) => RepeatRules | undefined,
): Resolution {
  const rules = graph.names.map(rulesOf);
  const keys: Keys = {
    priority: Int32Array.from(rules, (rule) => rule?.repeat_priority ?? 0),
    outside: new Int32Array(pairs.size),
    inside: new Int32Array(pairs.size),
  };
  /** Longest path to the last occurrence of a node. */
  const depth = new Int32Array(pairs.size);
  const place = new Int32Array(pairs.size).fill(-1);
  const found: Resolution = {
    loops: [],
    repeated: new Uint8Array(pairs.size),
    role: new Uint8Array(pairs.from.length),
  };
  for (const members of [...components.members].reverse()) {
    for (const node of members) measure(node, pairs, components, keys, depth);
    const [only = 0] = members;
    if (members.length === 1 && !hasSelfPair(only, pairs)) {
      depth[only] = at(keys.outside, only);
      continue;
    }
    const loop = loopOf(pairs, [...members].sort(byKey(keys)), place);
    const resolved = resolve(loop, graph, keys, components, (node) => rules[node]?.repeatable !== false);
    for (const pair of resolved.search.back) {
      // A removal is never repeated: the pair that would do so is dropped.
      found.role[pair] = isRemoval(graph.names[at(pairs.to, pair)] ?? '') ? DROPPED : BACK;
    }
    for (const node of resolved.loop.repeated) found.repeated[node] = 1;
    found.loops.push(resolved.loop);
    deepen(resolved.search, loop, found, keys, depth);
    for (const node of members) place[node] = -1;
  }
  return found;
}

/** Counts the prerequisites of a node, outside of its component and inside. */
function measure(node: number, pairs: Digraph, components: Components, keys: Keys, depth: Int32Array): void {
  let outside = 0;
  let inside = 0;
  for (let slot = at(pairs.inStart, node); slot < at(pairs.inStart, node + 1); slot += 1) {
    const parent = at(pairs.from, at(pairs.inPairs, slot));
    if (components.of[parent] !== components.of[node]) outside = Math.max(outside, 1 + at(depth, parent));
    else if (parent !== node) inside += 1;
  }
  keys.outside[node] = outside;
  keys.inside[node] = inside;
}

function hasSelfPair(node: number, pairs: Digraph): boolean {
  for (let pair = at(pairs.outStart, node); pair < at(pairs.outStart, node + 1); pair += 1) {
    if (pairs.to[pair] === node) return true;
  }
  return false;
}

/** Finds the head: the first candidate from which no action is repeated that may not be. */
function resolve(
  loop: Loop,
  graph: BaseGraph,
  keys: Keys,
  components: Components,
  isRepeatable: (node: number) => boolean,
): { loop: ResolvedLoop; search: LoopSearch } {
  const pairs = loop.graph;
  const name = (node: number): string => graph.names[node] ?? '';
  const candidates = loop.members.filter(
    (node) => graph.staged[node] === 1 || hasReactionFromOutside(node, pairs, components),
  );
  const members = [...loop.members].sort((a, b) => a - b);
  for (const [index, head] of candidates.slice(0, MOST_HEADS).entries()) {
    const search = searchFrom(head, loop);
    const targets = [...new Set(search.back.map((pair) => at(pairs.to, pair)))];
    const repeated = targets.filter((node) => !isRemoval(name(node))).sort((a, b) => a - b);
    if (!repeated.every(isRepeatable)) continue;
    const rule = index > 0 ? 'not-repeatable' : ruleBetween(keys, head, candidates[1]);
    return { loop: { members, head, rule, repeated, back: search.back, path: search.path }, search };
  }
  const names = members.map(name);
  throw musterError(
    'cycle_not_repeatable',
    `${someOf(names)} wait for one another, and every way to cut the loop repeats an action that may not be repeated: take out an event, or let an action be repeated`,
    undefined,
    [{ code: 'cycle_not_repeatable', message: 'members of the loop', names }],
  );
}

function hasReactionFromOutside(node: number, pairs: Digraph, components: Components): boolean {
  for (let slot = at(pairs.inStart, node); slot < at(pairs.inStart, node + 1); slot += 1) {
    const pair = at(pairs.inPairs, slot);
    if (pairs.reacts[pair] === 1 && components.of[at(pairs.from, pair)] !== components.of[node]) return true;
  }
  return false;
}

/** Measures the longest path to each occurrence: first ones in the order of the search, then second ones the other way round. */
function deepen(search: LoopSearch, loop: Loop, { role, repeated }: Resolution, keys: Keys, depth: Int32Array): void {
  const { graph, place } = loop;
  const first = new Int32Array(loop.members.length);
  const last = new Int32Array(loop.members.length);
  const longest = (node: number, wanted: number, least: number, of: Int32Array): number => {
    let length = least;
    for (let slot = at(graph.inStart, node); slot < at(graph.inStart, node + 1); slot += 1) {
      const pair = at(graph.inPairs, slot);
      const parent = at(place, at(graph.from, pair));
      if (parent >= 0 && role[pair] === wanted) length = Math.max(length, 1 + at(of, parent));
    }
    return length;
  };
  for (const node of [...search.postorder].reverse()) {
    first[at(place, node)] = longest(node, FORWARD, at(keys.outside, node), first);
  }
  last.set(first);
  for (const node of search.postorder) {
    if (repeated[node] === 1) last[at(place, node)] = longest(node, BACK, 1 + at(first, at(place, node)), last);
    depth[node] = at(last, at(place, node));
  }
}
