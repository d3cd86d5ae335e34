/** What the log view makes of lines, rows and places of the scroll bar. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { hasText, lineSpans } from '../../web/src/sessions/log/ansi-line.ts';
import {
  chosenOf,
  fragmentOf,
  gapText,
  lineOfRow,
  nextOf,
  pagesOf,
  rowCount,
  rowOfLine,
} from '../../web/src/sessions/log/log-rows.ts';
import { LINE_HEIGHT, lastTop, scrolledHeight, scrolledTo, topOf } from '../../web/src/sessions/log/log-scroll.ts';

const ESC = String.fromCharCode(27);
const BEL = String.fromCharCode(7);
const RIGHT_TO_LEFT = String.fromCharCode(0x202e);
const plain = (text: string) => (text === '' ? [] : [{ text, style: '' }]);

describe('a line of output', () => {
  test.each([
    ['', ''],
    ['ok: [n1]', 'ok: [n1]'],
    [`${ESC}]0;title${BEL}text`, 'text'],
    [`${ESC}[2J${ESC}[1;1Hhome`, 'home'],
    ['10%\r20%\r100%', '100%'],
    ['with CR LF\r', 'with CR LF'],
    [`100%\r${ESC}[0m`, '100%'],
    ['a\tb', 'a\tb'],
    [`a${BEL}b`, 'a\\u0007b'],
    [`a${RIGHT_TO_LEFT}b`, 'a\\u202eb'],
    ['<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
  ])('%j is shown as %j', (line, shown) => expect(lineSpans(line)).toEqual(plain(shown)));

  test('keeps weight and the 16 colours', () => {
    expect(lineSpans(`a${ESC}[0;32mok${ESC}[0m${ESC}[1;91mbad${ESC}[22mthin${ESC}[39mend`)).toEqual([
      { text: 'a', style: '' },
      { text: 'ok', style: 'ansi-2' },
      { text: 'bad', style: 'bold ansi-9' },
      { text: 'thin', style: 'ansi-9' },
      { text: 'end', style: '' },
    ]);
    expect(lineSpans(`${ESC}[38;5;31mx${ESC}[48;2;1;31;3my${ESC}[4;31mz${ESC}[mend`)).toEqual([
      { text: 'x', style: '' },
      { text: 'y', style: '' },
      { text: 'z', style: 'ansi-1' },
      { text: 'end', style: '' },
    ]);
    expect(lineSpans(`${ESC}[31mfirst\rlast`)).toEqual([{ text: 'last', style: 'ansi-1' }]);
  });

  test('has a bounded number of parts, and all of its text', () => {
    const spans = lineSpans(`${ESC}[31ma${ESC}[32mb`.repeat(50_000));
    expect(spans.length).toBeLessThanOrEqual(500);
    expect(spans.map(({ text }) => text).join('')).toBe('ab'.repeat(50_000));
    expect(lineSpans(`${`${ESC}[31ma${ESC}[32mb`.repeat(1_000)}\rend`)).toEqual([{ text: 'end', style: 'ansi-2' }]);
  });

  test('has a text whatever codes lie in it, and codes are no text', () => {
    expect(hasText(`a${ESC}[31mB${ESC}[0mc`, 'abC')).toBe(true);
    expect(hasText(`a${ESC}[31mb`, '31')).toBe(false);
  });

  test('has never a control or bidirectional character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (line) => {
        for (const { text, style } of lineSpans(line)) {
          expect(text.replaceAll('\t', '')).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
          expect(style).toMatch(/^(bold)?( ?ansi-\d+)?$/);
        }
      }),
    );
  });
});

describe('rows', () => {
  const gap = { after: 10, lines: 80, bytes: 900 };
  test('are lines where nothing is missing', () => {
    expect([rowCount(5, null), lineOfRow(0, null), rowOfLine(5, null)]).toEqual([5, 1, 4]);
  });
  test('have the gap as one of them', () => {
    expect(rowCount(100, gap)).toBe(21);
    expect([9, 10, 11, 20].map((row) => lineOfRow(row, gap))).toEqual([10, null, 91, 100]);
    expect([10, 11, 50, 90, 91, 100].map((line) => rowOfLine(line, gap))).toEqual([9, 10, 10, 10, 11, 20]);
    expect([gapText(gap), gapText({ ...gap, lines: null, bytes: 64 * 1024 * 1024 })]).toEqual([
      '80 lines not kept (1 KiB)',
      '64 MiB not kept',
    ]);
  });
  test('lead to their line and back', () => {
    const gaps = fc.record({ after: fc.nat(50), lines: fc.option(fc.nat(50)), bytes: fc.nat() });
    fc.assert(
      fc.property(fc.option(gaps), fc.nat(200), (anyGap, row) => {
        const line = lineOfRow(row, anyGap);
        if (line !== null) expect(rowOfLine(line, anyGap)).toBe(row);
      }),
    );
  });
});

test('lines are on pages of 500', () => {
  expect(pagesOf([1, 500, 501, 1_000, 1_001])).toEqual([1, 501, 1_001]);
});

test.each([
  ['L1', { first: 1, last: 1 }],
  ['L120-L140', { first: 120, last: 140 }],
  ['L140-L120', { first: 120, last: 140 }],
  ['L0', null],
  ['', null],
  ['L1x', null],
  ['L9999999999999999', null],
])('the fragment %j names %j', (fragment, lines) => expect(chosenOf(fragment)).toEqual(lines));

test('lines have a fragment', () => {
  expect([fragmentOf({ first: 3, last: 3 }), fragmentOf({ first: 3, last: 9 })]).toEqual(['L3', 'L3-L9']);
});

test('the next of several lines', () => {
  expect([nextOf([2, 5, 9], 0), nextOf([2, 5, 9], 5), nextOf([2, 5, 9], 9)]).toEqual([2, 9, undefined]);
  expect([nextOf([2, 5, 9], 5, true), nextOf([2, 5, 9], 2, true)]).toEqual([2, undefined]);
});

describe('the scroll bar', () => {
  const room = 600;
  test('is that of the lines where they fit, and never taller than a browser takes', () => {
    expect(topOf(240, 1_000, room)).toBeCloseTo(10);
    expect(scrolledHeight(1_000)).toBe(1_000 * LINE_HEIGHT);
    expect(scrolledHeight(5_000_000)).toBe(8_000_000);
  });
  test('comes back to where it was', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5_000_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (rows, part) => {
        const top = part * lastTop(rows, room);
        expect(topOf(scrolledTo(top, rows, room), rows, room)).toBeCloseTo(top, 3);
      }),
    );
  });
  test('reaches both ends', () => {
    for (const rows of [10, 1_000, 5_000_000]) {
      expect(topOf(0, rows, room)).toBe(0);
      expect(topOf(scrolledHeight(rows) - room, rows, room)).toBeCloseTo(lastTop(rows, room));
    }
  });
});
