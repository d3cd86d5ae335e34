/** Longer words than this are no misspelling of a name of ours, and are not compared. */
const LONGEST = 80;

/**
 * The word of `known` that `word` most likely stands for: the same but for case and separators, an end or a part of it, or at most a third of
 * the letters wrong; undefined for none. Of equals the first.
 */
export function closestWord(word: string, known: readonly string[]): string | undefined {
  const plain = plainOf(word);
  if (plain === '' || word.length > LONGEST) return undefined;
  const same = known.find((candidate) => plainOf(candidate) === plain);
  if (same !== undefined) return same;
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of known) {
    const other = plainOf(candidate);
    const distance = editDistance(plain, other);
    const allowed = Math.max(1, Math.floor(Math.max(plain.length, other.length) / 3));
    if (distance <= allowed && (plain.length > 2 || distance === 0) && distance < (best?.distance ?? Infinity)) {
      best = { candidate, distance };
    }
  }
  return best?.candidate ?? partOf(plain, word, known);
}

/** A name of which the word is the only beginning or the only last or first part: `conf` of `configuration`, `url` of `clone_url`. */
function partOf(plain: string, word: string, known: readonly string[]): string | undefined {
  if (plain.length < 2) return undefined;
  const begun = known.filter((candidate) => plainOf(candidate).startsWith(plain));
  if (begun.length === 1) return begun[0];
  const parts = known.filter((candidate) => partsOf(candidate).includes(word.toLowerCase().replace(/^-+/, '')));
  return parts.length === 1 ? parts[0] : undefined;
}

const plainOf = (word: string): string => word.toLowerCase().replaceAll(/[-_.\s]/g, '');

const partsOf = (word: string): string[] =>
  word
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[-_]+/);

/** How many letters are added, left out, changed or exchanged with their neighbour. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const now = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      let least = Math.min(at(last, column) + 1, at(now, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1));
      const exchanged = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (exchanged) least = Math.min(least, at(beforeLast, column - 2) + 1);
      now.push(least);
    }
    beforeLast = last;
    last = now;
  }
  return at(last, to.length);
}

const at = (row: readonly number[], column: number): number => row[column] ?? 0;
