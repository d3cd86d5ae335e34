import { shownName, whyNotAHost } from './host-names.ts';
import { hostVariables, type VariableRules } from './host-variables.ts';
import type { HostVariables, InventoryTree } from './inventory-tree.ts';

/** What the inventory needs of a component. */
export interface InventoryComponent {
  id: string;
  tags: Readonly<Record<string, string>>;
}

export interface ComponentInventory extends InventoryTree {
  /** Components that are no host, and why. */
  leftOut: { id: string; reason: string }[];
}

/**
 * The inventory of provider `components` (design: inventory): every component with a plain id is a host, a tag `k=v` makes the group
 * `k_v`, the named `ansible_` tags become host variables. Other tags that begin with `ansible_` make neither.
 */
export function componentInventory(components: Iterable<InventoryComponent>, rules: VariableRules): ComponentInventory {
  const leftOut: ComponentInventory['leftOut'] = [];
  const hosts = new Map<string, HostVariables>();
  const groups = new Map<string, Set<string>>();
  for (const { id, tags } of components) {
    const variables = hostVariables(tags, rules);
    const reason = whyNotAHost(id, () => false) ?? (typeof variables === 'string' ? variables : null);
    if (reason !== null || typeof variables === 'string') {
      leftOut.push({ id, reason: reason ?? '' });
      continue;
    }
    hosts.set(id, variables);
    for (const [key, value] of Object.entries(tags)) {
      if (key.startsWith('ansible_') || value === '') continue;
      const group = groupOfTag(key, value);
      const members = groups.get(group);
      if (members) members.add(id);
      else groups.set(group, new Set([id]));
    }
  }
  for (const id of [...groups.keys()].filter((group) => hosts.has(group))) {
    leftOut.push({ id, reason: 'a group of the inventory has this name' });
    hosts.delete(id);
    for (const members of groups.values()) members.delete(id);
  }
  const filled = [...groups].filter(([, members]) => members.size > 0);
  return { below: 'all', hosts, groups: new Map(filled.map(([name, members]) => [name, [...members]])), leftOut };
}

/** The group that a tag puts its component into: `k_v`, with `_` for every character that is no letter, digit or `_`. */
export function groupOfTag(key: string, value: string): string {
  return `${key}_${value}`.replace(/[^A-Za-z0-9_]/gu, '_');
}

/** What the session's events say about components that are left out; at most 20 by name. */
export function leftOutWarnings(leftOut: ComponentInventory['leftOut']): string[] {
  const named = leftOut
    .slice(0, 20)
    .map(({ id, reason }) => `Component '${shownName(id)}' is left out of the inventory: ${reason}.`);
  if (leftOut.length <= 20) return named;
  return [...named, `${leftOut.length - 20} more components are left out of the inventory.`];
}
