/** Which columns of a table a terminal has room for, and how wide they are. */
import { widthOf } from './display-width.ts';

/** The room of a table on a terminal. */
export interface Room {
  /** Columns of the terminal. */
  width: number;
  /** Columns of the table that have no room are left out; otherwise all are shown, and long rows wrap. */
  leavesOut: boolean;
}

/** Blanks between two columns. */
export const GAP = 2;
/** Columns of a text that say something. */
const LEAST = 8;
/** Longest id, name or time in a cell: nothing of these is cut. */
const LONGEST_WORD = 64;

/**
 * The width of each column, 0 for one that is left out. Texts are cut, the widest first; ids are not, and the first column is not. Columns that still
 * have no room are left out from the right.
 */
export function fitColumns(rows: readonly (readonly string[])[], room: Room | undefined): number[] {
  const count = rows[0]?.length ?? 0;
  const natural = Array.from({ length: count }, (_, index) =>
    // A whole fleet has more rows than a function takes arguments.
    rows.reduce((most, row) => Math.max(most, widthOf(row[index] ?? '')), 0),
  );
  if (room === undefined || total(natural) <= room.width) return natural;
  const isText = natural.map((_, index) => index > 0 && rows.some((row) => !isWord(row[index] ?? '')));
  const widths = shrunk(natural, isText, room.width);
  for (let index = count - 1; room.leavesOut && index > 0 && total(widths) > room.width; index -= 1) {
    widths[index] = 0;
    const kept = natural.map((width, at) => (widths[at] === 0 ? 0 : width));
    // What a column leaves is for the texts that stay.
    widths.splice(0, count, ...shrunk(kept, isText, room.width));
  }
  return widths;
}

/** An id, a name, a number or a time: half of it would be another one. */
const isWord = (text: string): boolean => !/[\s,]/.test(text) && text.length <= LONGEST_WORD;

const total = (widths: readonly number[]): number => {
  const shown = widths.filter((width) => width > 0);
  return shown.reduce((sum, width) => sum + width, 0) + GAP * Math.max(0, shown.length - 1);
};

/** The widths with the widest texts made narrower until all have room, or nothing more can be cut. */
function shrunk(natural: readonly number[], isText: readonly boolean[], room: number): number[] {
  const widths = natural.map((width, index) => (isText[index] ? Math.min(width, Math.max(LEAST, room)) : width));
  for (let excess = total(widths) - room; excess > 0; excess -= 1) {
    const widest = Math.max(...widths.map((width, index) => (isText[index] && width > LEAST ? width : 0)));
    if (widest === 0) break;
    const at = widths.findIndex((width, index) => isText[index] && width === widest);
    widths[at] = widest - 1;
  }
  return widths;
}
