import { shownName } from '../components/host-names.ts';
import type { LimitHosts } from '../components/inventory/inventory-tree.ts';

/** Names that are told of one by one. */
const NAMED = 20;

/**
 * What the session's events say of names in its limit that are groups of the inventory. Of hosts that Muster names such a one is left out; in
 * a limit that a person wrote it means the members of the group, as in Ansible.
 */
export function groupWarnings({ groups }: Pick<LimitHosts, 'groups'>, limitOfHosts: boolean): string[] {
  const meant = groups.filter((name) => name !== 'all' && name !== 'ungrouped');
  const said = limitOfHosts ? 'is left out of the limit: it is' : 'in the limit means';
  const rest = limitOfHosts
    ? 'a component of this name can be no host'
    : 'nothing is recorded for a component of this name';
  const lines = meant
    .slice(0, NAMED)
    .map((name) => `'${shownName(name)}' ${said} a group of the inventory, and ${rest}.`);
  return meant.length <= NAMED ? lines : [...lines, `${meant.length - NAMED} more names of the limit are groups too.`];
}

/** Why no host of those that Muster names is left, as the end of a sentence. */
export function whyNone(names: Pick<LimitHosts, 'groups'> | null): string {
  const [first] = names?.groups ?? [];
  return first === undefined ? '' : `: '${shownName(first)}' is a group of the inventory`;
}
