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

/** What a component is in an inventory. */
export interface ReadComponent {
  /** Groups that its tags name, each once. */
  groups: string[];
  /** Its variables, or as the end of a sentence why it is no host. */
  variables: HostVariables | string;
}

/** Returns what reads components one by one: every component with a plain id is a host, unless a group of the inventory has its name. */
export function componentReader(rules: VariableRules): (component: InventoryComponent) => ReadComponent {
  const groupsOf = groupsByTag();
  return ({ id, tags }) => ({
    groups: groupsOf(tags),
    variables: whyNotAHost(id, () => false) ?? hostVariables(tags, rules),
  });
}

/** Why a component is left out whose id is also the name of a group. */
export const NAME_OF_A_GROUP = 'a group of the inventory has this name';

/**
 * The inventory of provider `components` (design: inventory): every component with a plain id is a host, a tag `k=v` makes the group
 * `k_v`, the named `ansible_` tags become host variables. Other tags that begin with `ansible_` make neither.
 */
export function componentInventory(components: Iterable<InventoryComponent>, rules: VariableRules): ComponentInventory {
  const leftOut: ComponentInventory['leftOut'] = [];
  const hosts = new Map<string, HostVariables>();
  const groups = new Map<string, string[]>();
  const read = componentReader(rules);
  for (const component of components) {
    const { id } = component;
    const { variables, groups: own } = read(component);
    if (typeof variables === 'string') {
      leftOut.push({ id, reason: variables, groups: own });
      continue;
    }
    hosts.set(id, variables);
    for (const group of own) {
      const members = groups.get(group);
      if (members === undefined) groups.set(group, [id]);
      else members.push(id);
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
    leftOut.push({ id, reason: NAME_OF_A_GROUP, groups: names });
  }
}

/** Names of groups that are kept at most: tags that each component has for itself are not worth it. */
const KNOWN_MAX = 20_000;

/** Answers the groups that tags name, each once. A fleet has few different tags, so the name of a group is made once for each. */
function groupsByTag(): (tags: Readonly<Record<string, string>>) => string[] {
  const known = new Map<string, Map<string, string>>();
  let count = 0;
  const nameOf = (key: string, value: string): string => {
    const found = known.get(key)?.get(value);
    if (found !== undefined) return found;
    if (count >= KNOWN_MAX) {
      known.clear();
      count = 0;
    }
    const ofKey = known.get(key) ?? new Map<string, string>();
    if (ofKey.size === 0) known.set(key, ofKey);
    const group = groupOfTag(key, value);
    ofKey.set(value, group);
    count += 1;
    return group;
  };
  return (tags) => {
    const groups: string[] = [];
    for (const key of Object.keys(tags)) {
      const value = tags[key] ?? '';
      if (value === '' || key.startsWith('ansible_')) continue;
      const group = nameOf(key, value);
      // Two tags may name the same group.
      if (!groups.includes(group)) groups.push(group);
    }
    return groups;
  };
}

/** The group that a tag puts its component into: `k_v`, with `_` for every character that is no letter, digit or `_`. */
export function groupOfTag(key: string, value: string): string {
  const name = `${key}_${value}`;
  return /^[A-Za-z0-9_]*$/.test(name) ? name : name.replace(/[^A-Za-z0-9_]/gu, '_');
}

/** Components that are told of by name. */
const TOLD = 20;

/** Gathers what the session's events say about components that are left out, and keeps no more of them. */
export interface LeftOutWarnings {
  add(leftOut: LeftOutComponent): void;
  warnings(): string[];
}

/**
 * Of components that are left out those count that a limit could mean; at most 20 are told of by name. What the rest of the fleet looks like
 * is not the session's concern.
 */
export function leftOutOf(limit: string): LeftOutWarnings {
  const couldMean = meaningOfLimit(limit);
  const named: string[] = [];
  let more = 0;
  return {
    add: ({ id, reason, groups }) => {
      if (!couldMean([id, ...groups])) return;
      if (named.length < TOLD) named.push(`Component '${shownName(id)}' is left out of the inventory: ${reason}.`);
      else more += 1;
    },
    warnings: () => (more === 0 ? named : [...named, `${more} more components are left out of the inventory.`]),
  };
}

/** The same of components that are all at hand. */
export function leftOutWarnings(leftOut: readonly LeftOutComponent[], limit: string): string[] {
  const told = leftOutOf(limit);
  for (const component of leftOut) told.add(component);
  return told.warnings();
}
