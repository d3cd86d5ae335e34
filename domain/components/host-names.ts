const PLAIN = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?$/;
/** Groups that Ansible makes itself. */
export const BUILT_IN_GROUPS: ReadonlySet<string> = new Set(['all', 'ungrouped']);

/** Whether an inventory can name a host so: Ansible neither expands the name nor reads a port, a pattern or a path from it. */
export function isPlainHostName(name: string): boolean {
  return PLAIN.test(name) && !BUILT_IN_GROUPS.has(name);
}

/** Why `name` cannot be a host beside these groups, as the end of a sentence; `null` when it can. */
export function whyNotAHost(name: string, isGroup: (name: string) => boolean): string | null {
  if (BUILT_IN_GROUPS.has(name)) return `Ansible has a group named ${name}`;
  if (!PLAIN.test(name)) return 'the name is more than letters, digits, _, . and - between letters, digits or _';
  return isGroup(name) ? 'a group of the inventory has this name' : null;
}

/** A name as it may stand in a message: printable and of bearable length. */
export function shownName(name: string): string {
  return JSON.stringify(name.length > 120 ? `${name.slice(0, 120)}...` : name).slice(1, -1);
}
