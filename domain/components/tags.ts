import { musterError } from '../errors.ts';

/** Tags after a write: merged key by key, an empty value removes the key (cfs-api 6.3.3). */
export function mergeTags(stored: Record<string, string>, given: Record<string, string>): Record<string, string> {
  const merged = new Map([...Object.entries(stored), ...Object.entries(given)]);
  return Object.fromEntries([...merged].filter(([, value]) => value !== ''));
}

/**
 * The pairs of a tag filter, `k=v,k=v`; empty text has none. Every item has exactly one `=`, else `bad_tags` (cfs-api 6.5).
 */
export function parseTagFilter(text: string): [key: string, value: string][] {
  if (text === '') return [];
  return text.split(',').map((item) => {
    const [key, value, ...rest] = item.split('=');
    if (key === undefined || value === undefined || rest.length > 0) {
      throw musterError('bad_tags', `'${item}' in tags is not of the form key=value.`);
    }
    return [key, value];
  });
}
