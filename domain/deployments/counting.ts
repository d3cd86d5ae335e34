/** Counts by a word; words without a count are left out. */
export type Counts = Partial<Record<string, number>>;

/** Returns how often each word is there, in the order of `words`. */
export function countBy(words: readonly string[], found: readonly (string | undefined)[]): Counts {
  const counts: Counts = {};
  for (const word of words) {
    const number = found.filter((each) => each === word).length;
    if (number > 0) counts[word] = number;
  }
  return counts;
}

/** Returns the sums of several counts, in the order of `words`. */
export function addCounts(words: readonly string[], several: readonly Counts[]): Counts {
  const sums: Counts = {};
  for (const word of words) {
    const sum = several.reduce((total, counts) => total + (counts[word] ?? 0), 0);
    if (sum > 0) sums[word] = sum;
  }
  return sums;
}

/** Returns counts for an answer; undefined, which is left out, when there is none. */
export function shownCounts(counts: Counts): Counts | undefined {
  return Object.keys(counts).length === 0 ? undefined : counts;
}
