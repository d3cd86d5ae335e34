/** Returns the ids that both have, in the order of the first; undefined: no condition. */
export function bothOf(
  one: readonly string[] | undefined,
  other: readonly string[] | undefined,
): readonly string[] | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const wanted = new Set(other);
  return one.filter((id) => wanted.has(id));
}
