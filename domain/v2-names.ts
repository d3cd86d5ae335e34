/** The v2 name of a v3 member where v2 has no other: `last_updated` is `lastUpdated` (cfs-api 13). */
export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
