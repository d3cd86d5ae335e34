/** Holders that a message names at most; the record is read by people. */
const NAMED = 5;

interface Holder {
  session: string;
  components: number;
}

/** Which sessions have how many components, for people: `a (3), b (1)`. */
export function describeHolders(holders: readonly Holder[]): string {
  const named = holders.slice(0, NAMED).map(({ session, components }) => `${session} (${components})`);
  const more = holders.length - named.length;
  if (more > 0) named.push(`${more} more session${more === 1 ? '' : 's'}`);
  return named.join(', ');
}

/** Sentence for the record of a session that waits for components. */
export function describeLeaseWait(holders: readonly Holder[]): string {
  return `waiting for components that other sessions have, allow_overlap is false: ${describeHolders(holders)}`;
}
