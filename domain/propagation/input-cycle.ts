/** Values that would depend on themselves. Resources may feed each other through different inputs. */

export interface InputPlace {
  resource: string;
  input: string;
}

export interface InputEdge {
  from: InputPlace;
  to: InputPlace;
}

const idOf = ({ resource, input }: InputPlace) => `${resource}::${input}`;

/**
 * Looks whether a new edge would close a cycle.
 *
 * Returns the places on the way round, from the receiver of the new edge back to it, or null where there is no cycle. Of several ways it
 * is a shortest one.
 */
export function cyclePath(edges: Iterable<InputEdge>, added: InputEdge): string[] | null {
  const next = new Map<string, string[]>();
  for (const { from, to } of edges) {
    const known = next.get(idOf(from));
    if (known === undefined) next.set(idOf(from), [idOf(to)]);
    else known.push(idOf(to));
  }
  const [start, end] = [idOf(added.to), idOf(added.from)];
  const cameFrom = new Map<string, string | null>([[start, null]]);
  const queue = [start];
  for (const place of queue) {
    if (place === end) return [...wayTo(end, cameFrom), start];
    for (const follower of next.get(place) ?? []) {
      if (cameFrom.has(follower)) continue;
      cameFrom.set(follower, place);
      queue.push(follower);
    }
  }
  return null;
}

function wayTo(end: string, cameFrom: ReadonlyMap<string, string | null>): string[] {
  const way: string[] = [];
  for (let place: string | null = end; place !== null; place = cameFrom.get(place) ?? null) way.push(place);
  return way.reverse();
}
