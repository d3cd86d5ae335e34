/** Holders that a message names at most; the record is read by people. */
export const NAMED = 5;

interface Holder {
  session: string;
  components: number;
}

/**
 * Which sessions have how many components, for people: `a (3), b (1)`. The store looks for names in it (`wrongLeaseWaiters`).
 * @param count how many there are, where only the first of them are given
 */
export function describeHolders(holders: readonly Holder[], count = holders.length): string {
  const named = holders.slice(0, NAMED).map(({ session, components }) => `${session} (${components})`);
  const more = count - named.length;
  if (more > 0) named.push(`${more} more session${more === 1 ? '' : 's'}`);
  return named.join(', ');
}

/** Sentence for the record of a session that waits for components; `count` as with `describeHolders`. */
export function describeLeaseWait(holders: readonly Holder[], count = holders.length): string {
  return `waiting for components that other sessions have, allow_overlap is false: ${describeHolders(holders, count)}`;
}
