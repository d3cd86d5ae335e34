/** What a difference says in words. */
import type { LayerDiff } from '../../../domain/configurations/history-schema.ts';

/** Returns what became of a layer. */
export function layerChange({ from, to, moved, members }: LayerDiff): string {
  if (from === null) return 'added';
  if (to === null) return 'removed';
  const words = [moved ? `moved from place ${from + 1}` : '', members.length > 0 ? 'changed' : ''];
  return words.filter((word) => word !== '').join(', ') || 'same';
}

/** Returns a value as a text; null stands for none. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
