/** Where the cells of the grid are, and which pixels they are. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  cellAt,
  cellOf,
  countsOf,
  GROUPS_DRAWN,
  groupOf,
  layoutOf,
  movedTo,
  placeOf,
} from '../../web/src/fleet/grid-layout.ts';
import { movedFrom } from '../../web/src/fleet/grid-news.ts';
import { drawCells, type GridColours, pixelOf } from '../../web/src/fleet/grid-pixels.ts';
import { filterOf } from '../../web/src/fleet/group-filter.ts';

const groupsOf = (counts: readonly number[]) => {
  let start = 0;
  return counts.map((count, index) => {
    const group = { label: `g${index}`, start, count };
    start += count;
    return group;
  });
};
const COLOURS: GridColours = { configured: 1, pending: 2, failed: 3, unconfigured: 4, disabled: 5, held: 9 };

describe('the layout', () => {
  test('has cells from 2 to 8 px, so that a large fleet is seen at once', () => {
    expect(layoutOf(groupsOf([10]), 10, 800)).toMatchObject({ size: 8, columns: 100, height: 8 });
    const large = layoutOf(groupsOf([100_000]), 100_000, 800);
    expect(large).toMatchObject({ size: 2, columns: 400, height: 500 });
    expect(layoutOf([], 0, 800)).toMatchObject({ height: 1 });
  });

  test('finds each cell where it is drawn', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 6 }),
        fc.nat(),
        (counts, any) => {
          const total = counts.reduce((sum, count) => sum + count, 0);
          const layout = layoutOf(groupsOf(counts), total, 300);
          const cell = any % total;
          const { x, y } = placeOf(layout, cell);
          expect(cellAt(layout, x, y)).toBe(cell);
          expect(cellAt(layout, x + layout.size - 1, y + layout.size - 1)).toBe(cell);
          expect(x + layout.size).toBeLessThanOrEqual(300);
          expect(y + layout.size).toBeLessThanOrEqual(layout.height);
        },
      ),
    );
  });

  test('has no cell beside a short row, between groups, or outside', () => {
    const layout = layoutOf(groupsOf([3, 2]), 5, 16);
    expect(layout).toMatchObject({ size: 8, columns: 2 });
    expect(cellAt(layout, 9, 9)).toBeUndefined();
    expect(cellAt(layout, 0, 17)).toBeUndefined();
    expect(cellAt(layout, 0, 22)).toBe(3);
    expect([cellAt(layout, 16, 0), cellAt(layout, -1, 0), cellAt(layout, 0, 500)]).toEqual(Array(3).fill(undefined));
  });

  test('knows the group of a cell', () => {
    const groups = groupsOf([3, 2]);
    expect([0, 2, 3, 4, 5].map((cell) => groupOf(groups, cell)?.label)).toEqual(['g0', 'g0', 'g1', 'g1', undefined]);
  });
});

describe('keys', () => {
  const layout = layoutOf(groupsOf([5, 3]), 8, 16);
  test.each([
    [0, 'ArrowRight', 1],
    [0, 'ArrowLeft', 0],
    [7, 'ArrowRight', 7],
    [0, 'ArrowDown', 2],
    [3, 'ArrowDown', 4],
    [4, 'ArrowDown', 5],
    [5, 'ArrowUp', 4],
    [6, 'ArrowUp', 4],
    [7, 'ArrowUp', 5],
    [1, 'ArrowUp', 1],
    [7, 'ArrowDown', 7],
    [6, 'ArrowDown', 7],
    [3, 'Home', 0],
    [3, 'End', 7],
    [3, 'x', undefined],
  ])('lead from %s by %s to %s', (cell, key, to) => expect(movedTo(layout, 8, cell, key)).toBe(to));
});

test('letters say status and session', () => {
  expect(['c', 'F', 'd', '?'].map(cellOf)).toEqual([
    { word: 'configured', isHeld: false },
    { word: 'failed', isHeld: true },
    { word: 'disabled', isHeld: false },
    { word: 'unconfigured', isHeld: false },
  ]);
  expect(countsOf({ label: '', start: 1, count: 4 }, 'ccFpd')).toEqual({
    ...{ configured: 1, pending: 1, failed: 1, unconfigured: 0, disabled: 1, held: 1 },
  });
});

describe('pixels', () => {
  const layout = layoutOf(groupsOf([3, 1]), 4, 16);
  test('are of the cells alone, with a ring where a session has one', () => {
    const pixels = new Uint32Array(16 * layout.height);
    expect(drawCells(pixels, layout, 'cpFu', '', COLOURS)).toEqual({ from: 0, to: layout.height });
    const at = (x: number, y: number) => pixels[y * 16 + x];
    expect([at(0, 0), at(6, 6), at(7, 0), at(8, 0)]).toEqual([1, 1, 0, 2]);
    expect([at(0, 8), at(1, 9), at(6, 14), at(3, 11)]).toEqual([9, 3, 9, 3]);
    expect(at(0, 22)).toBe(4);
  });

  test('are written again where a letter differs', () => {
    const pixels = new Uint32Array(16 * layout.height);
    drawCells(pixels, layout, 'cpfu', '', COLOURS);
    expect(drawCells(pixels, layout, 'cpfu', 'cpfu', COLOURS)).toBeNull();
    expect(drawCells(pixels, layout, 'cpcu', 'cpfu', COLOURS)).toEqual({ from: 8, to: 16 });
    expect(pixels[9 * 16 + 1]).toBe(1);
  });

  test('have the colour that a browser computes', () => {
    expect(pixelOf('rgb(13, 162, 109)').toString(16)).toBe('ff6da20d');
  });
});

test('as many groups as are drawn fit into a picture that browsers draw', () => {
  const counts = Array.from({ length: GROUPS_DRAWN }, () => 400);
  for (const width of [320, 1_920]) {
    const { height } = layoutOf(groupsOf(counts), 200_000, width);
    expect(height).toBeLessThan(16_384);
    expect(height * width).toBeLessThan(2 ** 24);
  }
});

test('places that moved again while they were read are read again', () => {
  const [first, second, third] = [{ version: 'a' }, { version: 'b' }, { version: 'c' }];
  expect([movedFrom(first, first), movedFrom(undefined, first), movedFrom(first, undefined)]).toEqual(['', '', '']);
  const seen = [movedFrom(first, second), movedFrom(second, third), movedFrom(third, second)];
  expect(new Set(seen).size).toBe(3);
  expect(seen).not.toContain('');
});

test.each([
  ['none', '', {}],
  ['configuration', 'a=b,c', { config_name: 'a=b,c' }],
  ['rack', 'r1', { tags: 'rack=r1' }],
  ['rack', '', null],
  ['rack', 'r1,row=2', null],
  ['a=b', 'c', null],
])('the group %j with the label %j is asked for by %j', (group, label, filter) =>
  expect(filterOf(group, label)).toEqual(filter),
);
