/** Components for each second that counts are as old as at most: to count them takes a few hundredths of that. */
const COUNTED_IN_A_SECOND = 100_000;
const OLDEST_MS = 10_000;

/**
 * Returns how long counts of so many components are kept, ms.
 * @param shared how long an answer with them is shared besides, ms
 */
export function countsKeptFor(components: number, shared: number): number {
  return Math.max(0, Math.min(OLDEST_MS, (components / COUNTED_IN_A_SECOND) * 1_000) - shared);
}
