/** Holders that a message names at most; the record is read by people. */
const NAMED = 5;

/** Sentence for the record of a session that waits for components: which sessions keep how many of them. */
export function describeLeaseWait(holders: readonly { session: string; components: number }[]): string {
  const named = holders.slice(0, NAMED).map(({ session, components }) => `${session} (${components})`);
  const more = holders.length - named.length;
  if (more > 0) named.push(`${more} more session${more === 1 ? '' : 's'}`);
  return `waiting for components that other sessions have, allow_overlap is false: ${named.join(', ')}`;
}
