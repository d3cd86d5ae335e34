import { shownName, whyNotAHost } from '../host-names.ts';
import type { InventoryTree } from './inventory-tree.ts';

/** Answers of a hardware state manager, as far as the inventory reads them (cfs-flows 3.1). */
export interface HsmRecords {
  groups: readonly { label: string; members: readonly string[] }[];
  partitions: readonly { name: string; members: readonly string[] }[];
  components: readonly { ID: string; Role?: string | undefined; SubRole?: string | undefined }[];
}

const NAME = /^[a-zA-Z_][a-zA-Z0-9_]+$/;
const PYTHON_KEYWORDS = new Set(
  `False None True and as assert async await break class continue def del elif else except finally for from global if
  import in is lambda nonlocal not or pass raise return try while with yield`.split(/\s+/),
);

/**
 * The inventory of provider `hsm` (cfs-flows 3.1): groups, then partitions, then roles, a later group of the same name replacing
 * the earlier. Hosts without any of them are absent. What Ansible would expand, or what would spoil the whole file, is left out
 * with a warning.
 */
export function hsmInventory(records: HsmRecords): InventoryTree & { warnings: string[] } {
  const warnings: string[] = [];
  const groups = new Map<string, readonly string[]>();
  const add = (kind: string, name: string, members: readonly string[], isRole = false): void => {
    const reason = isRole ? whyNotARole(name) : whyNotAGroup(name);
    if (reason === null) groups.set(name, members);
    else warnings.push(`${kind} '${shownName(name)}' is left out of the inventory: ${reason}.`);
  };
  for (const { label, members } of records.groups) add('Group', label, members);
  for (const { name, members } of records.partitions) add('Partition', name, members);
  for (const [name, members] of roles(records.components)) add('Role', name, members, true);

  const verdicts = new Map<string, boolean>();
  const isHost = (id: string): boolean => {
    const known = verdicts.get(id);
    if (known !== undefined) return known;
    const reason = whyNotAHost(id, (name) => groups.has(name));
    if (reason !== null) warnings.push(`Host '${shownName(id)}' is left out of the inventory: ${reason}.`);
    verdicts.set(id, reason === null);
    return reason === null;
  };
  const checked = [...groups].map(([name, members]) => [name, [...new Set(members)].filter(isHost)] as const);
  return { below: 'all', hosts: new Map(), groups: new Map(checked), warnings: firstOf(warnings) };
}

/** Warnings that are told one by one. */
const TOLD = 20;

function firstOf(warnings: string[]): string[] {
  const more = warnings.length - TOLD;
  if (more <= 0) return warnings;
  return [...warnings.slice(0, TOLD), `${more} more names of the hardware manager are left out of the inventory.`];
}

function roles(components: HsmRecords['components']): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const join = (group: string, id: string): void => {
    const members = found.get(group);
    if (members) members.push(id);
    else found.set(group, [id]);
  };
  for (const { ID, Role, SubRole } of components) {
    if (Role) join(Role, ID);
    if (SubRole) join(`${Role ?? ''}_${SubRole}`, ID);
  }
  return found;
}

function whyNotAGroup(name: string): string | null {
  if (name === 'all') return 'Ansible has a group named all';
  if (PYTHON_KEYWORDS.has(name)) return 'the name is a keyword of Python';
  return NAME.test(name) ? null : 'the name is not two or more letters, digits or _, beginning with no digit';
}

/** Names from roles are taken as they are; only what would spoil the file or be read as a path is not. */
function whyNotARole(name: string): string | null {
  if (name === 'all') return 'Ansible has a group named all';
  return /[/\p{Cc}]/u.test(name) ? 'the name is not plain text' : null;
}
