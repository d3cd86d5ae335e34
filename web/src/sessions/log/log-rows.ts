/** Rows of the view: one for each line that there is, and one for the gap. They are counted from 0, lines from 1. */

export interface Gap {
  after: number;
  lines: number | null;
  bytes: number;
}

/** Lines of a page of the API. */
export const PAGE_LINES = 500;

/** Returns how many rows there are. */
export function rowCount(total: number, gap: Gap | null): number {
  return gap === null ? total : total - (gap.lines ?? 0) + 1;
}

/** Returns the number of the line in a row; null: it is the gap. */
export function lineOfRow(row: number, gap: Gap | null): number | null {
  if (gap === null || row < gap.after) return row + 1;
  return row === gap.after ? null : row + (gap.lines ?? 0);
}

/** Returns the row of a line, also of one in the gap. */
export function rowOfLine(line: number, gap: Gap | null): number {
  if (gap === null || line <= gap.after) return line - 1;
  const missing = gap.lines ?? 0;
  return line <= gap.after + missing ? gap.after : line - missing;
}

/** Returns the pages that lines are on, each by the number of its first line. */
export function pagesOf(lines: readonly number[]): number[] {
  return [...new Set(lines.map((line) => line - ((line - 1) % PAGE_LINES)))];
}

/** Returns what a gap reads. */
export function gapText({ lines, bytes }: Gap): string {
  const size = bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KiB` : `${Math.round(bytes / 1024 / 1024)} MiB`;
  return lines === null ? `${size} not kept` : `${lines} lines not kept (${size})`;
}

/** Lines that an address names. */
export interface ChosenLines {
  first: number;
  last: number;
}

/** Returns the lines that a fragment names, as `L120` and `L120-L140`; null for another one. */
export function chosenOf(fragment: string): ChosenLines | null {
  const [isOne, from, to = from] = /^L([1-9][0-9]{0,14})(?:-L([1-9][0-9]{0,14}))?$/.exec(fragment) ?? [];
  if (isOne === undefined) return null;
  const [first, last] = [Math.min(Number(from), Number(to)), Math.max(Number(from), Number(to))];
  return { first, last };
}

/** Returns the fragment of lines. */
export function fragmentOf({ first, last }: ChosenLines): string {
  return first === last ? `L${first}` : `L${first}-L${last}`;
}

/** Returns the first number behind `current`, or the last before it when going back; undefined: there is none. Numbers ascend. */
export function nextOf(numbers: readonly number[], current: number, isBack = false): number | undefined {
  return isBack ? numbers.findLast((number) => number < current) : numbers.find((number) => number > current);
}
