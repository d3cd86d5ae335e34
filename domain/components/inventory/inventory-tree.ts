import { BUILT_IN_GROUPS } from '../host-names.ts';

/** Variables of one host; texts are data and are never templated. */
export type HostVariables = Readonly<Record<string, string | number | boolean>>;

/** What an inventory file holds. Maps, because host and group names are free text (`__proto__` is one). */
export interface InventoryTree {
  /** Whether all stands below the group `all`, as in a dynamic inventory, or groups are at the top, as in `spec`. */
  below: 'all' | 'top';
  /** Hosts named below `all` themselves, with their variables; those of groups need not be here. */
  hosts: ReadonlyMap<string, HostVariables>;
  /** Whether the members of every group are among `hosts`; default false. */
  namesAll?: boolean;
  groups: ReadonlyMap<string, readonly string[]>;
  /** Variables that hosts have in a group, by group and host. */
  memberVariables?: ReadonlyMap<string, ReadonlyMap<string, HostVariables>>;
}

/**
 * The inventory of just these hosts and their groups (design: inventory scope), or the whole inventory when one of `names` is
 * no host of it: then it is a group or comes from elsewhere, and the others may matter.
 */
export function restrictTo(tree: InventoryTree, names: readonly string[]): InventoryTree {
  const known = new Set(tree.hosts.keys());
  for (const members of tree.groups.values()) for (const member of members) known.add(member);
  if (!names.every((name) => known.has(name))) return tree;
  const wanted = new Set(names);
  const groups = new Map<string, string[]>();
  for (const [group, members] of tree.groups) {
    const kept = members.filter((member) => wanted.has(member));
    if (kept.length > 0) groups.set(group, kept);
  }
  return { below: tree.below, hosts: new Map([...tree.hosts].filter(([name]) => wanted.has(name))), groups };
}

/** What names of a limit are in the inventory. */
export interface LimitHosts {
  hosts: string[];
  /** Neither host nor group. */
  absent: string[];
  /** Groups: as a pattern such a name means their members. */
  groups: string[];
}

/** Names of an inventory. */
export interface InventoryNames {
  hosts: ReadonlySet<string>;
  groups: ReadonlySet<string>;
}

/** The names of what was generated, with the groups that Ansible makes itself. */
export function namesOf(tree: InventoryTree): InventoryNames {
  const hosts = new Set(tree.hosts.keys());
  if (!tree.namesAll) for (const members of tree.groups.values()) for (const member of members) hosts.add(member);
  return { hosts, groups: new Set([...tree.groups.keys(), ...BUILT_IN_GROUPS]) };
}

/**
 * Which of these names are hosts of the inventory, which it does not know (cfs-flows 8.16), and which are groups. A name that is
 * both counts as a group: whoever reads it cannot know which is meant.
 */
export function limitHosts({ hosts, groups }: InventoryNames, names: readonly string[]): LimitHosts {
  return {
    hosts: names.filter((name) => hosts.has(name) && !groups.has(name)),
    absent: names.filter((name) => !hosts.has(name) && !groups.has(name)),
    groups: names.filter((name) => groups.has(name)),
  };
}
