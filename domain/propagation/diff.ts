/**
 * What differs between two JSON values, as a list of operations that leads from one to the other and back. A path holds the keys and
 * indexes from the top; the empty path is the top itself.
 */
export type DiffPath = readonly (string | number)[];

export type DiffEntry =
  | readonly ['add', DiffPath, readonly (readonly [string, unknown])[]]
  | readonly ['remove', DiffPath, readonly (readonly [string, unknown])[]]
  | readonly ['change', DiffPath, readonly [unknown, unknown]];

export type Diff = readonly DiffEntry[];

type JsonObject = Record<string, unknown>;

/**
 * Compares two values. In each object changed members come first, in the order of their keys, then the added ones, then the removed
 * ones. Arrays of one length are compared place by place; others are one change.
 *
 * Returns the operations that make `to` out of `from`; none where both are equal.
 */
export function diffOf(from: unknown, to: unknown): DiffEntry[] {
  const found: DiffEntry[] = [];
  compare(from, to, [], found);
  return found;
}

function compare(from: unknown, to: unknown, path: DiffPath, found: DiffEntry[]): void {
  if (Array.isArray(from) && Array.isArray(to) && from.length === to.length) {
    for (const [index, value] of from.entries()) compare(value, to[index], [...path, index], found);
  } else if (isObject(from) && isObject(to)) {
    for (const key of keysOf(from)) {
      if (Object.hasOwn(to, key)) compare(from[key], to[key], [...path, key], found);
    }
    const added = keysOf(to).filter((key) => !Object.hasOwn(from, key));
    const removed = keysOf(from).filter((key) => !Object.hasOwn(to, key));
    if (added.length > 0) found.push(['add', path, added.map((key) => [key, to[key]] as const)]);
    if (removed.length > 0) found.push(['remove', path, removed.map((key) => [key, from[key]] as const)]);
  } else if (!isEqual(from, to)) {
    found.push(['change', path, [from, to]]);
  }
}

/** Whether two values that are not both objects, or not arrays of one length, are the same. */
function isEqual(from: unknown, to: unknown): boolean {
  return Object.is(from, to) || from === to;
}

/** Returns the value that the operations make of `from`, which stays as it is. */
export function patch(diff: Diff, from: unknown): unknown {
  let value = structuredClone(from);
  for (const entry of diff) value = apply(entry, value);
  return value;
}

/** Returns the value of which the operations made `to`, which stays as it is. */
export function revert(diff: Diff, to: unknown): unknown {
  let value = structuredClone(to);
  for (const entry of [...diff].reverse()) value = apply(inverse(entry), value);
  return value;
}

function inverse(entry: DiffEntry): DiffEntry {
  if (entry[0] === 'change') return ['change', entry[1], [entry[2][1], entry[2][0]]];
  return [entry[0] === 'add' ? 'remove' : 'add', entry[1], entry[2]];
}

/** Applies one operation. Returns the value, which is another one where the top itself changes. */
function apply(entry: DiffEntry, value: unknown): unknown {
  const path = pathOf(entry);
  if (entry[0] === 'change') {
    const changed = structuredClone(entry[2][1]);
    const last = path.at(-1);
    if (last === undefined) return changed;
    put(at(value, path.slice(0, -1)), last, changed);
    return value;
  }
  const holder = at(value, path);
  for (const [key, member] of entry[2]) {
    if (entry[0] === 'add') put(holder, key, structuredClone(member));
    else delete (holder as JsonObject)[key];
  }
  return value;
}

/** A key at the top may stand alone, without its list. */
function pathOf(entry: DiffEntry): DiffPath {
  const path = entry[1] as DiffPath | string;
  if (typeof path !== 'string') return path;
  return path === '' ? [] : [path];
}

function at(value: unknown, path: DiffPath): unknown {
  let reached = value;
  for (const step of path) {
    if (reached === null || typeof reached !== 'object' || !Object.hasOwn(reached, step)) {
      throw new Error(`the value has nothing at ${path.join('.')}`);
    }
    reached = (reached as JsonObject)[step as string];
  }
  return reached;
}

/** Sets a member; `__proto__` is a key as any other. */
function put(holder: unknown, key: string | number, value: unknown): void {
  Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });
}

/**
 * Returns one line for each member that differs: `++ key: value`, `-- key: value` or `-+ key: old >> new`. Below the top a key is
 * written `first:[rest] `. A reference to a secret shows as `***`.
 */
export function detailLines(diff: Diff): string[] {
  return diff.flatMap((entry) => {
    const path = pathOf(entry);
    if (entry[0] === 'change') return [`-+ ${pathText(path)}: ${shown(entry[2][0])} >> ${shown(entry[2][1])}`];
    const sign = entry[0] === 'add' ? '++' : '--';
    return entry[2].map(([key, value]) => `${sign} ${pathText([...path, key])}: ${shown(value)}`);
  });
}

function pathText([first = '', ...rest]: DiffPath): string {
  return rest.length === 0 ? String(first) : `${first}:[${rest.join('.')}] `;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(masked(value)) ?? 'null').replaceAll('"***"', '***');
}

function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (!isObject(value)) return value;
  if (isSecretShape(value)) return '***';
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, masked(member)]));
}

function isSecretShape(value: JsonObject): boolean {
  return Object.keys(value).length === 2 && typeof value.secret === 'string' && typeof value.key === 'string';
}

/** Returns the action that leads from the committed data to the current data where no user has named an action. */
export function guessAction(committed: unknown, current: unknown): 'run' | 'update' | 'remove' {
  if (isEmpty(committed)) return 'run';
  return isEmpty(current) ? 'remove' : 'update';
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (typeof value === 'object' && Object.keys(value).length === 0);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Keys by code unit. */
function keysOf(value: JsonObject): string[] {
  return Object.keys(value).sort();
}
