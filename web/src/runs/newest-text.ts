/** The end of an output that may be of any size. */
import { shownText } from '../shared/ui/shown-text.ts';

/** Lines that are drawn, and characters of all of them. */
const [LINES, CHARACTERS] = [1_000, 200_000];

/** Returns the last lines of the pieces of an output as they are shown; a first line that is too long begins within itself. */
export function newestText(pieces: readonly string[]): string {
  let end = '';
  for (const piece of pieces.toReversed()) {
    if (end.length > CHARACTERS) break;
    end = piece.slice(-CHARACTERS - 1) + end;
  }
  const text = end.replace(/\n$/, '').slice(-CHARACTERS);
  return text
    .split('\n')
    .slice(-LINES)
    .map((line) => shownText(line.replaceAll('\t', '    ').replace(/\r$/, '')))
    .join('\n');
}
