/** Where the cells of the grid are drawn: px from the upper left corner. */

export interface Group {
  label: string;
  start: number;
  count: number;
}

export interface PlacedGroup extends Group {
  /** Upper edge of its first row of cells. */
  top: number;
}

export interface GridLayout {
  /** Edge of a cell with the gap beside it. */
  size: number;
  columns: number;
  width: number;
  height: number;
  groups: PlacedGroup[];
}

const [SMALLEST, LARGEST] = [2, 8];
/** Height that is aimed at, and between two groups. */
const [AIM, BETWEEN] = [600, 6];

/** Groups up to which cells are drawn: each has rows of its own, and a browser draws no picture of any height. */
export const GROUPS_DRAWN = 500;

/** Returns the places of groups in a width. Cells are as large as they can be for all to be seen at once. */
export function layoutOf(groups: readonly Group[], total: number, width: number): GridLayout {
  const fitting = Math.floor(Math.sqrt((width * AIM) / Math.max(1, total)));
  const size = Math.min(LARGEST, Math.max(SMALLEST, fitting));
  const columns = Math.max(1, Math.floor(width / size));
  let top = 0;
  const placed = groups.map((group) => {
    const at = { ...group, top };
    top += Math.ceil(group.count / columns) * size + BETWEEN;
    return at;
  });
  return { size, columns, width, height: Math.max(1, top - BETWEEN), groups: placed };
}

/** Returns the group that a cell is in. */
export function groupOf<G extends Group>(groups: readonly G[], cell: number): G | undefined {
  let [low, high] = [0, groups.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((groups[middle]?.start ?? 0) <= cell) low = middle;
    else high = middle - 1;
  }
  const group = groups[low];
  return group !== undefined && cell >= group.start && cell < group.start + group.count ? group : undefined;
}

/** Returns the upper left corner of a cell. */
export function placeOf({ groups, size, columns }: GridLayout, cell: number): { x: number; y: number } {
  const group = groupOf(groups, cell);
  if (group === undefined) return { x: 0, y: 0 };
  const inGroup = cell - group.start;
  return { x: (inGroup % columns) * size, y: group.top + Math.floor(inGroup / columns) * size };
}

/** Returns the cell at a place; undefined: there is none. */
export function cellAt({ groups, size, columns }: GridLayout, x: number, y: number): number | undefined {
  const column = Math.floor(x / size);
  if (x < 0 || y < 0 || column >= columns) return undefined;
  const group = groups.findLast(({ top }) => top <= y);
  if (group === undefined) return undefined;
  const cell = Math.floor((y - group.top) / size) * columns + column;
  return cell < group.count ? group.start + cell : undefined;
}

/** Returns the cell that a key leads to; undefined: the key leads to none. Up and down pass from group to group. */
export function movedTo(layout: GridLayout, total: number, cell: number, key: string): number | undefined {
  const within = (to: number) => Math.min(total - 1, Math.max(0, to));
  if (key === 'ArrowLeft') return within(cell - 1);
  if (key === 'ArrowRight') return within(cell + 1);
  if (key === 'Home') return 0;
  if (key === 'End') return total - 1;
  if (key !== 'ArrowUp' && key !== 'ArrowDown') return undefined;
  const { groups, columns } = layout;
  const group = groupOf(groups, cell);
  if (group === undefined) return within(cell);
  const column = (cell - group.start) % columns;
  const end = group.start + group.count - 1;
  if (key === 'ArrowDown') {
    if (cell + columns <= end) return cell + columns;
    // The last row of a group may be short.
    if (Math.floor((cell - group.start) / columns) < Math.floor((end - group.start) / columns)) return end;
    const next = groups[groups.indexOf(group) + 1];
    return next === undefined ? cell : next.start + Math.min(column, next.count - 1);
  }
  if (cell - columns >= group.start) return cell - columns;
  const before = groups[groups.indexOf(group) - 1];
  if (before === undefined) return cell;
  const lastRow = Math.floor((before.count - 1) / columns) * columns;
  return before.start + Math.min(lastRow + column, before.count - 1);
}

export const LETTERS = {
  c: 'configured',
  p: 'pending',
  f: 'failed',
  u: 'unconfigured',
  d: 'disabled',
} as const;
export type CellWord = (typeof LETTERS)[keyof typeof LETTERS];

/** What a letter of the grid says. */
export function cellOf(letter: string): { word: CellWord; isHeld: boolean } {
  const small = letter.toLowerCase() as keyof typeof LETTERS;
  return { word: LETTERS[small] ?? 'unconfigured', isHeld: letter !== small };
}

/** Counts the letters of each group: how many of each word, and how many a session has. */
export function countsOf({ start, count }: Group, status: string): Record<CellWord, number> & { held: number } {
  const counts = { configured: 0, pending: 0, failed: 0, unconfigured: 0, disabled: 0, held: 0 };
  for (let cell = start; cell < start + count; cell += 1) {
    const { word, isHeld } = cellOf(status[cell] ?? '');
    counts[word] += 1;
    if (isHeld) counts.held += 1;
  }
  return counts;
}
