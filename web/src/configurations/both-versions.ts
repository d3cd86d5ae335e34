/** Two versions of a configuration, member by member. */
import { type Draft, FIELD_NAMES, LAYER_FIELDS } from './draft.ts';

export interface ComparedRow {
  /** What is compared, such as `Layer 1, Branch`. */
  what: string;
  mine: string;
  stored: string;
  differs: boolean;
}

/** Returns what a form and a stored version have, in the order of the form; a member that neither has is left out. */
export function compareDrafts(mine: Draft, stored: Draft): ComparedRow[] {
  const [here, there] = [textsOf(mine), textsOf(stored)];
  const names = [...new Set([...here.keys(), ...there.keys()])];
  return names
    .map((what) => ({ what, mine: here.get(what) ?? '', stored: there.get(what) ?? '' }))
    .map((row) => ({ ...row, differs: row.mine !== row.stored }))
    .sort((one, other) => names.indexOf(one.what) - names.indexOf(other.what));
}

function textsOf({ description, layers, inventory, policy }: Draft): Map<string, string> {
  const texts: [string, string][] = [
    ['Description', description],
    ...layers.flatMap((layer, index) => layerTexts(`Layer ${index + 1}`, layer)),
    ...(inventory === null ? [] : layerTexts('Additional inventory', inventory)),
    ['Rollout, at once', policy.max_at_once],
    ['Rollout, canary', policy.canary],
    ['Rollout, most failed', policy.max_failed],
  ];
  return new Map(texts.filter(([, text]) => text.trim() !== ''));
}

function layerTexts(title: string, layer: Draft['layers'][number]): [string, string][] {
  return LAYER_FIELDS.map((field): [string, string] => [`${title}, ${FIELD_NAMES[field]}`, layer[field]]);
}
