/** The tags that every component of a batch has with an equal value; `undefined` when there are none (cfs-flows 5.2). */
export function commonTags(tags: readonly Readonly<Record<string, string>>[]): Record<string, string> | undefined {
  const [first, ...others] = tags;
  if (first === undefined) return undefined;
  const common = Object.entries(first).filter(([name, value]) =>
    others.every((other) => Object.hasOwn(other, name) && other[name] === value),
  );
  return common.length === 0 ? undefined : Object.fromEntries(common);
}
