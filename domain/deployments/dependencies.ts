/** Order of apps, and of the resources of an app, that wait for each other. */
import { musterError } from '../errors.ts';
import { someOf } from '../some-of.ts';

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
 * Throws `dependency_cycle` for a name that is not there and for a circle. `what`: app or resource.
 */
export function inDependencyOrder(names: readonly string[], waits: Waits, what: string): string[] {
  const known = new Set(names);
  for (const [name, others] of waits) {
    const stranger = others.find((other) => !known.has(other));
    if (stranger === undefined) continue;
    throw musterError('dependency_cycle', `${what} '${name}' waits on '${stranger}', which is not there`);
  }
  const ordered: string[] = [];
  const placed = new Set<string>();
  let open = [...names];
  while (open.length > 0) {
    const next = open.find((name) => isReady(name, waits, placed));
    if (next === undefined) throw circle(open, waits, placed, what);
    ordered.push(next);
    placed.add(next);
    open = open.filter((name) => name !== next);
  }
  return ordered;
}

/** Whether everything that a name waits for has ended well. */
export function isReady(name: string, waits: Waits, endedWell: ReadonlySet<string>): boolean {
  return (waits.get(name) ?? []).every((other) => endedWell.has(other));
}

/** Returns the same graph the other way round, as termination needs it. */
export function reversed(waits: Waits): Map<string, string[]> {
  const turned = new Map<string, string[]>();
  for (const [name, others] of waits)
    for (const other of others) turned.set(other, [...(turned.get(other) ?? []), name]);
  return turned;
}

/** Names the circle and not what merely waits for it. */
function circle(open: readonly string[], waits: Waits, placed: ReadonlySet<string>, what: string) {
  const path: string[] = [];
  let name = open[0] as string;
  while (!path.includes(name)) {
    path.push(name);
    name = (waits.get(name) ?? []).find((other) => !placed.has(other)) as string;
  }
  const loop = [...path.slice(path.indexOf(name)), name];
  return musterError('dependency_cycle', `These wait on each other (${what}): ${someOf(loop, ' -> ')}`);
}
