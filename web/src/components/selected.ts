/** Which components a user has selected: some of them by id, or all that match the filter, whose ids the API keeps. */
import type { ActionBody, Selection } from '../../../domain/components/selection-schema.ts';

export type Selected =
  | { kind: 'ids'; ids: ReadonlySet<string> }
  | { kind: 'all'; selection: Pick<Selection, 'id' | 'count' | 'expires_at'> };

export const NOTHING: Selected = { kind: 'ids', ids: new Set() };

/** Returns how many are selected. */
export function selectedCount(selected: Selected): number {
  return selected.kind === 'all' ? selected.selection.count : selected.ids.size;
}

/** Returns whether a component is selected, as far as the page can tell. */
export function isSelected(selected: Selected, id: string): boolean {
  return selected.kind === 'all' || selected.ids.has(id);
}

/** Returns the selection with one component more, or fewer. Of all that match none can be left out: then it stays. */
export function toggled(selected: Selected, id: string): Selected {
  if (selected.kind === 'all') return selected;
  const ids = new Set(selected.ids);
  if (!ids.delete(id)) ids.add(id);
  return { kind: 'ids', ids };
}

/** Returns what an action gets as `selection`. */
export function selectionOf(selected: Selected): ActionBody['selection'] {
  return selected.kind === 'all' ? selected.selection.id : { ids: [...selected.ids] };
}

/** Actions on many, by their buttons. */
export const ACTIONS = {
  'Set desired configuration': 'set_desired',
  Enable: 'enable',
  Disable: 'disable',
  'Clear state': 'clear_state',
  'Reset errors': 'reset_errors',
  'Set tags': 'set_tags',
  Delete: 'delete',
} as const satisfies Record<string, ActionBody['action']>;
export type ActionName = keyof typeof ACTIONS;

/** What an action needs beside the components; null while its input does not say it. */
export type Arguments = { desired_config: string } | { tags: Record<string, string> };

/** Returns the tags of lines or words `key=value`; an empty value takes the tag away. Null where a word is none, or none is there. */
export function tagsOf(text: string): Record<string, string> | null {
  const words = text.split(/[,\n]/).flatMap((word) => (word.trim() === '' ? [] : [word.trim()]));
  if (words.length === 0 || words.some((word) => word.indexOf('=') <= 0)) return null;
  return Object.fromEntries(
    words.map((word): [string, string] => {
      const at = word.indexOf('=');
      return [word.slice(0, at), word.slice(at + 1)];
    }),
  );
}

/** Returns why no session can be run on the selected ones; null when it can. A session takes components by their names. */
export function runRefusal(selected: Selected): string | null {
  return selected.kind === 'all'
    ? 'A session takes components by name: select rows or a page, not all that match'
    : null;
}

/** The body of a session on these components. */
export interface SessionWanted {
  name: string;
  configuration_name: string;
  ansible_limit: string;
}

/** Returns the session that is to be made; null while its inputs do not say it. */
export function sessionOf(selected: Selected, name: string, configuration: string | null): SessionWanted | null {
  if (selected.kind === 'all' || selected.ids.size === 0 || name === '' || !configuration) return null;
  return { name, configuration_name: configuration, ansible_limit: [...selected.ids].join(',') };
}

/** Returns why the hosts of a session are not the selected ones; null when they are. Ansible reads some names as patterns. */
export function hostsRefusal(
  selected: Selected,
  hosts: { count: number; unknown: string | null } | null,
): string | null {
  if (hosts !== null && hosts.unknown === null && hosts.count === selectedCount(selected)) return null;
  return 'Ansible would not read these names as these hosts';
}
