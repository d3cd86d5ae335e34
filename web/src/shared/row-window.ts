/** Which rows of a long table are drawn. */

export interface RowWindow {
  /** Index of the first row that is drawn. */
  first: number;
  /** Index behind the last one. */
  end: number;
}

export interface Scrolled {
  /** How far the rows are scrolled, px. */
  top: number;
  /** Height of what is seen, px. */
  height: number;
  rowHeight: number;
  count: number;
}

/** Rows that are drawn before and behind what is seen, so that keys find the next one. */
export const EXTRA_ROWS = 10;

/** Returns the rows that are seen, with some around them. */
export function rowWindow({ top, height, rowHeight, count }: Scrolled): RowWindow {
  const first = Math.floor(Math.max(0, top) / rowHeight) - EXTRA_ROWS;
  const end = Math.ceil((Math.max(0, top) + height) / rowHeight) + EXTRA_ROWS;
  const last = Math.min(count, Math.max(0, end));
  return { first: Math.max(0, Math.min(first, last)), end: last };
}
