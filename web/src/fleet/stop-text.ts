/** What stopping everything, or going on, has done. */

/** Returns how many things of each kind it was: `1 batcher, 13 sessions`. */
export function stopCounts(counts: Readonly<Record<string, number>>): string {
  const texts = Object.entries(counts).flatMap(([kind, count]) =>
    count > 0 ? [`${count} ${nounOf(kind, count)}`] : [],
  );
  return texts.length === 0 ? 'nothing was to be done' : texts.join(', ');
}

/** Kinds are named in the plural, the batcher alone in the singular. */
function nounOf(kind: string, count: number): string {
  return count === 1 && kind.endsWith('s') ? kind.slice(0, -1) : kind;
}
