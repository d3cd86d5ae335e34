/** One depth-first search through a loop, from its head: which pairs lead back to an action that is still being followed. */
import { at, type Digraph } from './digraph.ts';

/** The members of one loop and the ways between them. */
export interface Loop {
  graph: Digraph;
  /** Members in key order. */
  members: readonly number[];
  /** Pairs inside of the loop that leave a member: `children` at `start[place]` up to `start[place + 1]`, in key order. */
  start: Int32Array;
  children: Int32Array;
  /** Place of each member in `members`; -1 for other nodes. Shared by all loops of a graph. */
  place: Int32Array;
}

export interface LoopSearch {
  head: number;
  /** Pairs that lead back. */
  back: number[];
  /** Members in the order in which the search left them. */
  postorder: number[];
  /** The way around: from the head to the member that closes the loop. */
  path: number[];
}

/** Lays out the pairs inside of a loop. Children stand in key order because members are visited in it. */
export function loopOf(graph: Digraph, members: readonly number[], place: Int32Array): Loop {
  for (const [index, node] of members.entries()) place[node] = index;
  const start = new Int32Array(members.length + 1);
  const each = (visit: (parent: number, pair: number) => void): void => {
    for (const node of members) {
      for (let slot = at(graph.inStart, node); slot < at(graph.inStart, node + 1); slot += 1) {
        const pair = at(graph.inPairs, slot);
        const parent = at(place, at(graph.from, pair));
        if (parent >= 0) visit(parent, pair);
      }
    }
  };
  each((parent) => {
    start[parent + 1] = at(start, parent + 1) + 1;
  });
  for (let index = 0; index < members.length; index += 1) start[index + 1] = at(start, index + 1) + at(start, index);
  const next = start.slice();
  const children = new Int32Array(at(start, members.length));
  each((parent, pair) => {
    children[at(next, parent)] = pair;
    next[parent] = at(next, parent) + 1;
  });
  return { graph, members, start, children, place };
}

const NEW = 0;
const FOLLOWED = 1;
const LEFT = 2;

/** Searches the loop from one of its members. Each pair is visited once; nothing recurs. */
export function searchFrom(head: number, { graph, members, start, children, place }: Loop): LoopSearch {
  const state = new Uint8Array(members.length);
  const next = start.slice(0, members.length);
  const stack = [at(place, head)];
  const found: LoopSearch = { head, back: [], postorder: [], path: [] };
  state[at(place, head)] = FOLLOWED;
  for (let current = stack.at(-1); current !== undefined; current = stack.at(-1)) {
    const slot = at(next, current);
    if (slot === at(start, current + 1)) {
      state[current] = LEFT;
      stack.pop();
      found.postorder.push(members[current] as number);
      continue;
    }
    next[current] = slot + 1;
    const pair = at(children, slot);
    const child = at(place, at(graph.to, pair));
    if (state[child] === FOLLOWED) {
      found.back.push(pair);
      if (at(graph.to, pair) === head && found.path.length === 0) {
        found.path = stack.map((index) => members[index] as number);
      }
    } else if (state[child] === NEW) {
      state[child] = FOLLOWED;
      stack.push(child);
    }
  }
  return found;
}
