/** Where the edges of a plan go once its loops are resolved: each to one occurrence, from one or both occurrences of its emitter. */
import { type BaseGraph, ofEdgeCode } from './closure.ts';
import type { Components } from './components.ts';
import { at, type Digraph } from './digraph.ts';
import { CONDITIONS } from './event-schema.ts';
import { BACK, DROPPED, type Resolution } from './increment.ts';
import { EDGE_TYPES, type PlanEdge } from './plan-schema.ts';

/** Occurrences by number, in the order of their ids, and the edges between them, sorted and without doubles. */
export interface Layout {
  /** Number of occurrences. */
  size: number;
  /** The occurrences of node n: `first[n]`, and `first[n] + 1` where it is repeated. */
  first: Int32Array;
  from: Int32Array;
  to: Int32Array;
  code: Uint8Array;
}

const CODES_OF_TYPE = CONDITIONS.length;
/** The edge from the first occurrence of an action to the second; it has no condition. */
const SEQUENCE = (EDGE_TYPES.length - 1) * CODES_OF_TYPE;
const CODES = EDGE_TYPES.length * CODES_OF_TYPE;

/** Returns type and condition of the code of an edge between occurrences. */
export function ofLayoutCode(code: number): Pick<PlanEdge, 'type' | 'on'> {
  return code === SEQUENCE ? { type: 'sequence', on: null } : ofEdgeCode(code);
}

/**
 * Lays out the edges. An edge that leads back goes to the second occurrence. An edge inside of a loop connects first occurrences. An
 * edge between loops comes from every occurrence of its emitter, so what lies behind a loop waits for the last one.
 */
export function layOut(graph: BaseGraph, pairs: Digraph, components: Components, found: Resolution): Layout {
  const { first, size } = numbered(found.repeated);
  const keys: number[] = [];
  const add = (from: number, to: number, code: number): void => {
    keys.push((from * size + to) * CODES + code);
  };
  for (let edge = 0; edge < graph.code.length; edge += 1) {
    const [from, to, code] = [at(graph.from, edge), at(graph.to, edge), at(graph.code, edge)];
    const role = at(found.role, at(pairs.pairOfEdge, edge));
    if (role === DROPPED) continue;
    const isBack = role === BACK;
    const target = at(first, to) + (isBack ? 1 : 0);
    add(at(first, from), target, code);
    const isOutward = components.of[from] !== components.of[to];
    // A second occurrence never follows itself.
    const second = at(first, from) + 1;
    if (found.repeated[from] === 1 && (isBack || isOutward) && second !== target) add(second, target, code);
  }
  for (const [node, isRepeated] of found.repeated.entries()) {
    if (isRepeated === 1) add(at(first, node), at(first, node) + 1, SEQUENCE);
  }
  return { size, first, ...edgesOf(keys, size) };
}

function numbered(repeated: Uint8Array): { first: Int32Array; size: number } {
  const first = new Int32Array(repeated.length);
  let size = 0;
  for (const [node, isRepeated] of repeated.entries()) {
    first[node] = size;
    size += 1 + isRepeated;
  }
  return { first, size };
}

function edgesOf(keys: readonly number[], size: number): Pick<Layout, 'from' | 'to' | 'code'> {
  const sorted = Float64Array.from(keys).sort();
  const pairs = sorted.map((key) => Math.floor(key / CODES));
  return {
    from: Int32Array.from(pairs, (pair) => Math.floor(pair / size)),
    to: Int32Array.from(pairs, (pair) => pair % size),
    code: Uint8Array.from(sorted, (key) => key % CODES),
  };
}
