/** Groups of the grid as filters of components. */
import type { ComponentFilters } from '../components/search.ts';

/** Returns what the components of a group are asked for by; null: a filter of tags cannot say it. */
export function filterOf(group: string, label: string): ComponentFilters | null {
  if (group === 'none') return {};
  if (label === '') return null;
  if (group === 'configuration') return { config_name: label };
  // The filter is `key=value` with commas between: neither sign can be part of a key or a value.
  return /[,=]/.test(group + label) ? null : { tags: `${group}=${label}` };
}
