/** Where a scroll bar stands in a log. Browsers end elements at some 17 million px, so the bar of a long log is proportional. */

/** Height of a line, px; theme.css has the same. */
export const LINE_HEIGHT = 24;
/** Height of the tallest element, px. */
const TALLEST = 8_000_000;

/** Returns the height of what is scrolled, px. */
export const scrolledHeight = (rows: number): number => Math.min(rows * LINE_HEIGHT, TALLEST);

/** Whether a px of the bar is more than a px of the log: wheel, touch and keys then move by lines of the log. */
export const isProportional = (rows: number): boolean => rows * LINE_HEIGHT > TALLEST;

/** Returns the row that is on top when the end is seen. */
export const lastTop = (rows: number, room: number): number => Math.max(0, rows - room / LINE_HEIGHT);

/** Returns the row that is on top, with its part that is above; `room` is the height that is seen, px. */
export function topOf(scrolled: number, rows: number, room: number): number {
  const most = scrolledHeight(rows) - room;
  if (most <= 0) return 0;
  return Math.min(1, Math.max(0, scrolled / most)) * lastTop(rows, room);
}

/** Returns how far the bar is scrolled when a row is on top, px. */
export function scrolledTo(top: number, rows: number, room: number): number {
  const last = lastTop(rows, room);
  return last <= 0 ? 0 : (Math.min(top, last) / last) * Math.max(0, scrolledHeight(rows) - room);
}
