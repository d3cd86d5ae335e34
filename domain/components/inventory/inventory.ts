import { shownName, whyNotAHost } from '../host-names.ts';
import { hostVariables, type VariableRules } from '../host-variables.ts';
import { meaningOfLimit } from '../limit-patterns.ts';
import type { HostVariables, InventoryTree } from './inventory-tree.ts';

/** What the inventory needs of a component. */
export interface InventoryComponent {
  id: string;
  tags: Readonly<Record<string, string>>;
}

export interface LeftOutComponent {
  id: string;
  reason: string;
  groups: string[];
}

export interface ComponentInventory extends InventoryTree {
  /** Components that are no host, why, and the groups that their tags name. */
  leftOut: LeftOutComponent[];
}

/**
 * The inventory of provider `components` (design: inventory): every component with a plain id is a host, a tag `k=v` makes the group
 * `k_v`, the named `ansible_` tags become host variables. Other tags that begin with `ansible_` make neither.
 */
export function componentInventory(components: Iterable<InventoryComponent>, rules: VariableRules): ComponentInventory {
  const leftOut: ComponentInventory['leftOut'] = [];
  const hosts = new Map<string, HostVariables>();
  const groups = new Map<string, string[]>();
  const groupsOf = groupsByTag();
  for (const { id, tags } of components) {
    const variables = hostVariables(tags, rules);
    const reason = whyNotAHost(id, () => false) ?? (typeof variables === 'string' ? variables : null);
    if (reason !== null || typeof variables === 'string') {
      leftOut.push({ id, reason: reason ?? '', groups: groupsOf(tags) });
      continue;
    }
    hosts.set(id, variables);
    for (const group of groupsOf(tags)) {
      const members = groups.get(group);
      if (members === undefined) groups.set(group, [id]);
      // Two of its tags may name the same group.
      else if (members[members.length - 1] !== id) members.push(id);
    }
  }
  const both = [...groups.keys()].filter((group) => hosts.has(group));
  if (both.length > 0) leaveOut(new Set(both), { hosts, groups, leftOut });
  return { below: 'all', hosts, namesAll: true, groups, leftOut };
}

/** Takes out components that have the name of a group, and groups that have no host then. */
function leaveOut(
  ids: ReadonlySet<string>,
  {
    hosts,
    groups,
    leftOut,
  }: { hosts: Map<string, HostVariables>; groups: Map<string, string[]>; leftOut: LeftOutComponent[] },
): void {
  const groupsOfThem = new Map([...ids].map((id) => [id, [] as string[]]));
  for (const [name, members] of groups) {
    const kept = members.filter((member) => !ids.has(member));
    if (kept.length === members.length) continue;
    for (const member of members) groupsOfThem.get(member)?.push(name);
    if (kept.length === 0) groups.delete(name);
    else groups.set(name, kept);
  }
  for (const [id, names] of groupsOfThem) {
    hosts.delete(id);
    leftOut.push({ id, reason: 'a group of the inventory has this name', groups: names });
  }
}

/** Answers the groups that tags name. A fleet has few different tags, so the name of a group is made once for each. */
function groupsByTag(): (tags: Readonly<Record<string, string>>) => string[] {
  const known = new Map<string, Map<string, string>>();
  return (tags) => {
    const groups: string[] = [];
    for (const key of Object.keys(tags)) {
      const value = tags[key] ?? '';
      if (value === '' || key.startsWith('ansible_')) continue;
      const ofKey = known.get(key) ?? new Map<string, string>();
      if (ofKey.size === 0) known.set(key, ofKey);
      const group = ofKey.get(value) ?? groupOfTag(key, value);
      ofKey.set(value, group);
      groups.push(group);
    }
    return groups;
  };
}

/** The group that a tag puts its component into: `k_v`, with `_` for every character that is no letter, digit or `_`. */
export function groupOfTag(key: string, value: string): string {
  const name = `${key}_${value}`;
  return /^[A-Za-z0-9_]*$/.test(name) ? name : name.replace(/[^A-Za-z0-9_]/gu, '_');
}

/**
 * What the session's events say about components that are left out, of those that its limit could mean; at most 20 by name. What the
 * rest of the fleet looks like is not the session's concern.
 */
export function leftOutWarnings(leftOut: readonly LeftOutComponent[], limit: string): string[] {
  const couldMean = meaningOfLimit(limit);
  const meant = leftOut.filter(({ id, groups }) => couldMean([id, ...groups]));
  const named = meant
    .slice(0, 20)
    .map(({ id, reason }) => `Component '${shownName(id)}' is left out of the inventory: ${reason}.`);
  if (meant.length <= 20) return named;
  return [...named, `${meant.length - 20} more components are left out of the inventory.`];
}
