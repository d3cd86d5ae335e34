/** Order of apps, and of the resources of an app, that wait for each other. */
import { musterError } from '../errors.ts';
import { popHeap, pushHeap } from '../heap.ts';
import { someOf } from '../some-of.ts';

/** Characters of a name that a message shows: an annotation may hold any text. */
const NAME_SHOWN = 300;

/** What each name waits for; a name without an entry begins at once. */
export type Waits = ReadonlyMap<string, readonly string[]>;

/** Returns the instruction of the AppContext: `go`, or `wait on` with the names. */
export function instructionOf(waits: readonly string[]): string {
  return waits.length === 0 ? 'go' : `wait on ${waits.join(',')}`;
}

/** Returns the names of an annotation or a list: separated by commas, each once. */
export function namesOf(text: string): string[] {
  return [...new Set(text.split(',').map((name) => name.trim()))].filter((name) => name !== '');
}

/**
 * Returns the names so that each stands behind all that it waits for, and otherwise in the given order.
 * Throws `dependency_cycle` for a name that is not there and for a circle. `what`: app or resource. `field`: where the names were given.
 */
export function inDependencyOrder(names: readonly string[], waits: Waits, what: string, field?: string): string[] {
  const places = new Map(names.map((name, place) => [name, place]));
  for (const [name, others] of waits) {
    const stranger = others.find((other) => !places.has(other));
    if (stranger === undefined) continue;
    const missing = stranger.slice(0, NAME_SHOWN);
    throw musterError('dependency_cycle', `${what} '${name}' waits on '${missing}', which is not there`, field);
  }
  const behind = reversed(waits);
  /** How many others each name still waits for. */
  const open = names.map((name) => new Set(waits.get(name) ?? []).size);
  const ready: number[] = [];
  const bySmallest = (one: number, other: number) => one < other;
  open.forEach((count, place) => {
    if (count === 0) pushHeap(ready, place, bySmallest);
  });
  const ordered: string[] = [];
  for (let place = popHeap(ready, bySmallest); place !== undefined; place = popHeap(ready, bySmallest)) {
    const name = names[place] as string;
    ordered.push(name);
    for (const other of behind.get(name) ?? []) {
      const at = places.get(other);
      if (at === undefined) continue;
      const left = (open[at] ?? 0) - 1;
      open[at] = left;
      if (left === 0) pushHeap(ready, at, bySmallest);
    }
  }
  if (ordered.length < names.length) throw circle(names, waits, new Set(ordered), { what, field });
  return ordered;
}

/** Whether everything that a name waits for has ended well. */
export function isReady(name: string, waits: Waits, endedWell: ReadonlySet<string>): boolean {
  return (waits.get(name) ?? []).every((other) => endedWell.has(other));
}

/** Returns the same graph the other way round, as termination needs it. */
export function reversed(waits: Waits): Map<string, string[]> {
  const turned = new Map<string, string[]>();
  for (const [name, others] of waits) {
    for (const other of new Set(others)) {
      const behind = turned.get(other);
      if (behind === undefined) turned.set(other, [name]);
      else behind.push(name);
    }
  }
  return turned;
}

/** Returns everything that a name waits for, also by way of others, without the name itself. The nearest come first. */
export function allBefore(name: string, waits: Waits): string[] {
  const found = new Set<string>();
  let next: readonly string[] = waits.get(name) ?? [];
  while (next.length > 0) {
    const fresh = [...new Set(next)].filter((other) => other !== name && !found.has(other));
    for (const other of fresh) found.add(other);
    next = fresh.flatMap((other) => waits.get(other) ?? []);
  }
  return [...found];
}

/** Names the circle and not what merely waits for it. */
function circle(
  names: readonly string[],
  waits: Waits,
  placed: ReadonlySet<string>,
  { what, field }: { what: string; field: string | undefined },
) {
  const path = new Set<string>();
  let name = names.find((one) => !placed.has(one)) as string;
  while (!path.has(name)) {
    path.add(name);
    name = (waits.get(name) ?? []).find((other) => !placed.has(other)) as string;
  }
  const walked = [...path];
  const loop = [...walked.slice(walked.indexOf(name)), name];
  return musterError('dependency_cycle', `These wait on each other (${what}): ${someOf(loop, ' -> ')}`, field);
}
