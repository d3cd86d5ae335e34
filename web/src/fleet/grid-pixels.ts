/** Pixels of the grid: written into one image, of which the rows that changed are drawn. */
import { type CellWord, cellOf, type GridLayout } from './grid-layout.ts';

/** Colours as a pixel has them: red, green, blue, opaque; `held` is that of the ring. */
export type GridColours = Record<CellWord | 'held', number>;

/** Rows of pixels that changed: the first, and the one behind the last. */
export interface ChangedRows {
  from: number;
  to: number;
}

/**
 * Writes the cells whose letter differs from `before` into `pixels`, row by row. Returns which rows changed; null: none did.
 * @param before letters that are drawn; '' draws all
 */
export function drawCells(
  pixels: Uint32Array,
  layout: GridLayout,
  status: string,
  before: string,
  colours: GridColours,
): ChangedRows | null {
  const { groups, size, columns, width } = layout;
  // Small cells stand side by side.
  const edge = size >= 4 ? size - 1 : size;
  let [from, to] = [Number.POSITIVE_INFINITY, 0];
  for (const { start, count, top } of groups) {
    for (let place = 0; place < count; place += 1) {
      const letter = status[start + place] ?? '';
      if (letter === before[start + place]) continue;
      const { word, isHeld } = cellOf(letter);
      const x = (place % columns) * size;
      const y = top + Math.floor(place / columns) * size;
      fill(pixels, width, { x, y, edge }, colours[word], isHeld ? colours.held : null);
      from = Math.min(from, y);
      to = Math.max(to, y + size);
    }
  }
  return to === 0 ? null : { from, to };
}

function fill(
  pixels: Uint32Array,
  width: number,
  { x, y, edge }: { x: number; y: number; edge: number },
  colour: number,
  ring: number | null,
): void {
  for (let down = 0; down < edge; down += 1) {
    const row = (y + down) * width + x;
    for (let right = 0; right < edge; right += 1) {
      // Of a cell of two pixels the first column is the ring.
      const isRing = right === 0 || (edge > 3 && (down === 0 || down === edge - 1 || right === edge - 1));
      pixels[row + right] = ring !== null && isRing ? ring : colour;
    }
  }
}

/** Returns a colour of CSS, as a browser computes it, as a pixel. */
export function pixelOf(computed: string): number {
  const [red = 0, green = 0, blue = 0] = (computed.match(/[0-9.]+/g) ?? []).map(Number);
  // Bytes in the order of memory, on machines that browsers run on.
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
