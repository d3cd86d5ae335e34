import { isPlainHostName, shownName } from '../components/host-names.ts';
import type { InventoryTree } from '../components/inventory/inventory-tree.ts';
import { musterError } from '../errors.ts';

const IPV6 = /^(?=.*:.*:)[0-9A-Fa-f:]{2,39}(?:[0-9.]{7,15})?$/;
/** In a group's name Ansible would read these as a pattern, a path of `group_vars`, or a separator. */
const SPECIAL = /[,:&!~[\]*?@/\p{Cc}]|^[-\s]|\s$|^$/u;

/**
 * The inventory of a `spec` target (cfs-flows 3.2): its groups at the top, those given twice merged. Throws `inventory_invalid` for
 * a group or member that Ansible would expand or misread.
 */
export function specInventory(targetGroups: readonly { name: string; members: readonly string[] }[]): InventoryTree {
  const groups = new Map<string, Set<string>>();
  for (const [index, { name, members }] of targetGroups.entries()) {
    if (SPECIAL.test(name) || name === 'plugin') {
      throw invalid(
        `Group '${shownName(name)}' cannot be written: Ansible would misread the name.`,
        `groups.${index}.name`,
      );
    }
    const merged = groups.get(name) ?? new Set();
    groups.set(name, merged);
    for (const [position, member] of members.entries()) {
      if (!isPlainHostName(member) && !IPV6.test(member)) {
        const detail = `Member '${shownName(member)}' of group '${shownName(name)}' cannot be written: Ansible would expand or misread it.`;
        throw invalid(detail, `groups.${index}.members.${position}`);
      }
      merged.add(member);
    }
  }
  return {
    below: 'top',
    hosts: new Map(),
    groups: new Map([...groups].map(([name, members]) => [name, [...members]])),
  };
}

function invalid(detail: string, field: string): Error {
  return musterError('inventory_invalid', detail, `target.${field}`);
}
