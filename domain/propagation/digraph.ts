/** The same nodes as a simple digraph: one pair for all edges between two nodes, found from either end. */
import { type BaseGraph, isReactionCode } from './closure.ts';

export interface Digraph {
  /** Number of nodes. */
  size: number;
  /** Ends of the pairs, sorted by `from`, then `to`. */
  from: Int32Array;
  to: Int32Array;
  /** 1 where one of the edges of the pair is a reaction. */
  reacts: Uint8Array;
  /** The pair of each edge of the graph. */
  pairOfEdge: Int32Array;
  /** Pairs that leave node n: `outStart[n]` up to `outStart[n + 1]`. */
  outStart: Int32Array;
  /** Pairs that enter node n: `inPairs` at `inStart[n]` up to `inStart[n + 1]`, sorted by `from`. */
  inStart: Int32Array;
  inPairs: Int32Array;
}

/** Returns the number at a place that is inside the array. */
export const at = (array: Int32Array | Float64Array | Uint8Array, index: number): number => array[index] as number;

/** Returns the pairs of a graph whose edges are sorted. */
export function digraphOf(graph: BaseGraph): Digraph {
  const size = graph.names.length;
  const { from: edgeFrom, to: edgeTo, code } = graph;
  const pairOfEdge = new Int32Array(edgeFrom.length);
  const from: number[] = [];
  const to: number[] = [];
  const reacts: number[] = [];
  for (let edge = 0; edge < edgeFrom.length; edge += 1) {
    const isNew = edge === 0 || edgeFrom[edge] !== edgeFrom[edge - 1] || edgeTo[edge] !== edgeTo[edge - 1];
    if (isNew) {
      from.push(at(edgeFrom, edge));
      to.push(at(edgeTo, edge));
      reacts.push(0);
    }
    pairOfEdge[edge] = from.length - 1;
    if (isReactionCode(at(code, edge))) reacts[from.length - 1] = 1;
  }
  const inStart = startsOf(to, size);
  const next = inStart.slice();
  const inPairs = new Int32Array(to.length);
  for (const [pair, node] of to.entries()) {
    inPairs[at(next, node)] = pair;
    next[node] = at(next, node) + 1;
  }
  return {
    size,
    from: Int32Array.from(from),
    to: Int32Array.from(to),
    reacts: Uint8Array.from(reacts),
    pairOfEdge,
    outStart: startsOf(from, size),
    inStart,
    inPairs,
  };
}

/** Returns for each node where its entries begin when entries are sorted by node. */
export function startsOf(nodes: readonly number[] | Int32Array, size: number): Int32Array {
  const starts = new Int32Array(size + 1);
  for (const node of nodes) starts[node + 1] = at(starts, node + 1) + 1;
  for (let node = 0; node < size; node += 1) starts[node + 1] = at(starts, node + 1) + at(starts, node);
  return starts;
}
