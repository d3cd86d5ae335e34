/** How much waits for each node of a plan, and the order in which plans are listed. */
import { popHeap, pushHeap } from '../heap.ts';
import { at, startsOf } from './digraph.ts';

/** Nodes by number, in the order of their ids, and edges sorted by `from`, then `to`. */
interface Edges {
  size: number;
  from: Int32Array;
  to: Int32Array;
}

/**
 * Returns the weight of each node: the sum over its distinct direct successors of their weight and 1. Weights grow exponentially on
 * layered graphs, so they end at the greatest exact whole number.
 */
export function weightsOf(edges: Edges): Float64Array {
  const weights = new Float64Array(edges.size);
  const starts = startsOf(edges.from, edges.size);
  for (const node of topological(edges).reverse()) {
    let weight = 0;
    for (let edge = at(starts, node); edge < at(starts, node + 1); edge += 1) {
      const isNew = edge === at(starts, node) || edges.to[edge] !== edges.to[edge - 1];
      if (isNew) weight = Math.min(Number.MAX_SAFE_INTEGER, weight + at(weights, at(edges.to, edge)) + 1);
    }
    weights[node] = weight;
  }
  return weights;
}

/** Returns the nodes in canonical order: of those whose predecessors are listed the heaviest, then the smallest id. */
export function canonicalOrder(edges: Edges, weights: Float64Array): number[] {
  const isBefore = (a: number, b: number): boolean => {
    const difference = at(weights, a) - at(weights, b);
    return difference === 0 ? a < b : difference > 0;
  };
  const ready: number[] = [];
  return walk(edges, {
    put: (node) => pushHeap(ready, node, isBefore),
    take: () => popHeap(ready, isBefore),
  });
}

/** Returns the nodes in an order in which every edge points forward. */
function topological(edges: Edges): number[] {
  const ready: number[] = [];
  return walk(edges, { put: (node) => ready.push(node), take: () => ready.pop() });
}

interface Ready {
  put(node: number): void;
  take(): number | undefined;
}

/** Lists each node once its predecessors are listed. Throws when the edges have a cycle, which resolved loops have not. */
function walk({ size, from, to }: Edges, ready: Ready): number[] {
  const starts = startsOf(from, size);
  const waiting = new Int32Array(size);
  for (const node of to) waiting[node] = at(waiting, node) + 1;
  for (let node = 0; node < size; node += 1) if (waiting[node] === 0) ready.put(node);
  const order: number[] = [];
  for (let node = ready.take(); node !== undefined; node = ready.take()) {
    order.push(node);
    for (let edge = at(starts, node); edge < at(starts, node + 1); edge += 1) {
      const child = at(to, edge);
      waiting[child] = at(waiting, child) - 1;
      if (waiting[child] === 0) ready.put(child);
    }
  }
  if (order.length !== size) throw new Error(`${size - order.length} nodes of the plan wait for one another`);
  return order;
}
