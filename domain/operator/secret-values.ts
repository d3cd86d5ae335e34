import { type CustomResource, isJsonMap } from './custom-resource.ts';

/** Returns the decoded values of a Secret of the core group, which may not show; none for any other resource. */
export function secretsOf(resource: CustomResource & { data?: unknown }): string[] {
  if (resource.apiVersion !== 'v1' || resource.kind !== 'Secret' || !isJsonMap(resource.data)) return [];
  return Object.values(resource.data)
    .filter((value): value is string => typeof value === 'string')
    .flatMap((value) => [decoded(value), value])
    .filter((value) => value !== '');
}

/** Base64 of UTF-8; what is no text of UTF-8 has no form that could show. */
function decoded(value: string): string {
  try {
    const bytes = Uint8Array.from(atob(value), (character) => character.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return '';
  }
}
