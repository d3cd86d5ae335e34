/** Tables on terminals of 38, 80 and 200 columns, with wide characters, and screens of `--watch`. */
import { describe, expect, test } from '@jest/globals';
import type { View } from '../../cli/output/columns.ts';
import { cutTo, padded, widthOf } from '../../cli/output/display-width.ts';
import { renderList } from '../../cli/output/render.ts';
import { screen } from '../../cli/watch.ts';
import { seededRandom } from '../support/seeded-random.ts';

describe('the width of a text', () => {
  test.each([
    ['', 0],
    ['node1', 5],
    ['ノード', 6],
    ['日本語 x', 8],
    ['한국어', 6],
    ['ｶﾞ', 2],
    ['e\u0301', 1],
    ['👍🏽', 2],
    ['👨‍👩‍👧', 2],
    ['🇩🇪', 2],
    ['✔', 1],
    ['✔\ufe0f', 2],
    ['ＡＢ', 4],
    ['…', 1],
    ['äöü', 3],
  ])('of %j is %i', (text, width) => {
    expect(widthOf(text)).toBe(width);
  });

  test.each([
    ['abcdef', 6, 'abcdef'],
    ['abcdef', 4, 'abc…'],
    ['ab cdef', 4, 'ab…'],
    ['日本語', 5, '日本…'],
    ['日本語', 4, '日…'],
    ['abc', 1, '…'],
  ])('%j cut to %i is %j', (text, width, cut) => {
    expect(cutTo(text, width)).toBe(cut);
  });

  test('cut and padded, any text takes just the columns that it has', () => {
    const { next: random, seed } = seededRandom();
    const signs = ['a', ' ', '日', '👍🏽', 'e\u0301', '한', '…', '\u200d'];
    for (let round = 0; round < 500; round += 1) {
      const length = Math.floor(random() * 12);
      const text = Array.from({ length }, () => signs[Math.floor(random() * signs.length)]).join('');
      const width = 1 + Math.floor(random() * 10);
      expect([seed, text, width, widthOf(padded(cutTo(text, width), width))]).toEqual([seed, text, width, width]);
    }
  });
});

interface Row {
  name: string;
  configuration: string;
  id: string;
  message: string;
}

const view: View<Row> = {
  noun: 'rows',
  name: ({ name }) => name,
  columns: [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'CONFIGURATION', value: ({ configuration }) => configuration },
    { title: 'MESSAGE', value: ({ message }) => message },
    { title: 'ID', value: ({ id }) => id },
  ],
};
const id = '0a1b2c3d-0000-4000-8000-00000000000a';
const rows: Row[] = [
  {
    name: 'a-session-with-a-long-name',
    configuration: 'web',
    id,
    message: '日本語のとても長いメッセージ that goes on and on',
  },
  { name: 's2', configuration: 'database', id, message: 'short' },
];
const shown = (width: number, leavesOut = true) => renderList(view, rows, 'table', true, { width, leavesOut });

describe('a table', () => {
  test('of 200 columns is whole', async () => {
    expect(await shown(200)).toBe(await renderList(view, rows, 'table'));
  });

  test('of 80 columns leaves out what has no room; ids are whole', async () => {
    expect(await shown(80)).toBe(
      [
        'NAME                        CONFIGURATION  MESSAGE',
        'a-session-with-a-long-name  web            日本語のとても長いメッセージ that go…',
        's2                          database       short',
        '',
      ].join('\n'),
    );
    expect(await shown(100)).toContain(id);
  });

  test('of 38 columns keeps the first column whole', async () => {
    expect(await shown(38)).toBe(['NAME', 'a-session-with-a-long-name', 's2', ''].join('\n'));
  });

  test('no line is wider than the terminal, unless the first column is', async () => {
    for (let width = 26; width < 140; width += 1) {
      const widest = Math.max(...(await shown(width)).split('\n').map(widthOf));
      expect([width, widest <= width]).toEqual([width, true]);
    }
  });

  test('whose columns were named shows them all', async () => {
    const [titles = ''] = (await shown(38, false)).split('\n');
    expect(titles.split(/\s+/)).toEqual(['NAME', 'CONFIGURATION', 'MESSAGE', 'ID']);
  });
});

describe('a screen of --watch', () => {
  const lines = (text: string) =>
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that a screen has
    text.replace(/\u001b\[[HKJ]/g, '').split('\r\n');

  test('has the first lines, and how many more there are', () => {
    const text = Array.from({ length: 30 }, (_, index) => `line ${index}\n`).join('');
    const seen = lines(screen(text, { columns: () => 80, rows: () => 10 }));
    expect(seen).toHaveLength(10);
    expect([seen[0], seen[8], seen[9]]).toEqual(['line 0', 'line 8', '21 more lines']);
  });

  test('has a text whole that has just the room, and no line that wraps', () => {
    expect(lines(screen('a\nb\n', { columns: () => 80, rows: () => 2 }))).toEqual(['a', 'b']);
    expect(lines(screen(`${'x'.repeat(50)}\n`, { columns: () => 10 }))).toEqual([`${'x'.repeat(9)}…`]);
  });
});
