/** Strongly connected components: which actions can only be ordered by repeating some of them. */
import { at, type Digraph } from './digraph.ts';

export interface Components {
  /** Component of each node. A pair between two components goes from the greater number to the smaller. */
  of: Int32Array;
  /** Nodes of each component, in plain order. */
  members: number[][];
}

/** Finds the components in one walk over the pairs (Tarjan), without recursion: a chain may have any length. */
export function componentsOf(graph: Digraph): Components {
  const { size, to, outStart } = graph;
  const index = new Int32Array(size).fill(-1);
  const low = new Int32Array(size);
  const component = new Int32Array(size).fill(-1);
  const next = outStart.slice(0, size);
  const members: number[][] = [];
  const open: number[] = [];
  const path: number[] = [];
  let count = 0;
  const enter = (node: number): void => {
    index[node] = count;
    low[node] = count;
    count += 1;
    open.push(node);
    path.push(node);
  };
  const close = (root: number): void => {
    const found: number[] = [];
    for (let node = open.pop(); node !== undefined; node = node === root ? undefined : open.pop()) {
      component[node] = members.length;
      found.push(node);
    }
    members.push(found.sort((a, b) => a - b));
  };
  for (let root = 0; root < size; root += 1) {
    if (at(index, root) >= 0) continue;
    enter(root);
    for (let node = path.at(-1); node !== undefined; node = path.at(-1)) {
      const pair = at(next, node);
      if (pair < at(outStart, node + 1)) {
        next[node] = pair + 1;
        const child = at(to, pair);
        if (at(index, child) < 0) enter(child);
        else if (at(component, child) < 0) low[node] = Math.min(at(low, node), at(index, child));
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      if (parent !== undefined) low[parent] = Math.min(at(low, parent), at(low, node));
      if (at(low, node) === at(index, node)) close(node);
    }
  }
  return { of: component, members };
}
