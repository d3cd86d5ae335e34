/** Names that a message holds at most: more of them tell a reader nothing and fill the screen. */
const NAMED = 10;

/** Names of a message, at most ten of them, and how many more there are. `total` where only the first names are at hand. */
export function someOf(names: readonly string[], separator = ', ', total = names.length): string {
  const named = names.slice(0, NAMED);
  const more = Math.max(total, names.length) - named.length;
  return `${named.join(separator)}${more > 0 ? ` and ${more} more` : ''}`;
}
