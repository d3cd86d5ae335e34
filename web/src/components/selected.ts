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
