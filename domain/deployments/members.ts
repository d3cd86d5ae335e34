/** Members of data that came from outside: nothing of their types is known. */
export type Members = Readonly<Record<string, unknown>>;

/** Returns the members of an object; none for anything else. */
export function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};
}

/** Whether a value is an object with members. */
export function hasMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns what stands at a path; undefined where nothing does. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let found: unknown = value;
  for (const name of path) {
    const members = membersOf(found);
    found = Object.hasOwn(members, name) ? members[name] : undefined;
  }
  return found;
}

/** Returns the text at a path; empty where there is none. */
export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : '';
}

/** Returns the number at a path, else `otherwise`. */
export function numberAt(value: unknown, path: readonly string[], otherwise = 0): number {
  const found = at(value, ...path);
  return typeof found === 'number' && Number.isFinite(found) ? found : otherwise;
}

/** Returns the list at a path; empty where there is none. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}
