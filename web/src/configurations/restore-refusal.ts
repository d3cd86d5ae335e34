import type { ConfigurationVersion } from '../../../domain/configurations/history-schema.ts';

/** Returns why a version cannot be made what is wanted again; null when it can. */
export function restoreRefusal(
  { action, not_kept, layers }: Pick<ConfigurationVersion, 'action' | 'not_kept' | 'layers'>,
  isCurrent: boolean,
): string | null {
  if (isCurrent) return 'It is what is wanted now';
  if (action === 'delete') return 'There was no configuration then';
  if (not_kept.length > 0) return `The audit has not kept all of it (${not_kept.join(', ')})`;
  return layers === null ? 'Its layers are not known' : null;
}
