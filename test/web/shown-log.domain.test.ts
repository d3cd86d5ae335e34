import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { shownLines, withPieces } from '../../web/src/sessions/log/shown-log.ts';

const ESC = String.fromCharCode(27);
const BEL = String.fromCharCode(7);
const RIGHT_TO_LEFT = String.fromCharCode(0x202e);

describe('a line of output', () => {
  test.each([
    ['ok: [n1]', 'ok: [n1]'],
    [`${ESC}[0;32mok${ESC}[0m: [n1]`, 'ok: [n1]'],
    [`${ESC}]0;title${BEL}text`, 'text'],
    [`${ESC}[2J${ESC}[1;1Hhome`, 'home'],
    ['10%\r20%\r100%', '100%'],
    ['with CR LF\r', 'with CR LF'],
    ['a\tb', 'a\tb'],
    [`a${BEL}b`, 'a\\u0007b'],
    [`a${RIGHT_TO_LEFT}b`, 'a\\u202eb'],
    ['<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
    ['x'.repeat(5_000), `${'x'.repeat(4_000)} ... 1000 more characters`],
  ])('%j is shown as %j', (line, shown) => expect(shownLines(line)).toEqual([shown]));

  test('has never a control or bidirectional character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const line of shownLines(text))
          expect(line).not.toMatch(
            /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u.exec(line.replaceAll('\t', ''))?.[0] ?? /(?!)/,
          );
      }),
    );
  });
});

describe('what a page keeps', () => {
  const empty = { cursor: 0, text: '', isCut: false };

  test('grows by pieces', () => {
    const pieces = [
      { seq: 3, text: 'a\n' },
      { seq: 4, text: 'b' },
    ];
    expect(withPieces(empty, pieces)).toEqual({ cursor: 4, text: 'a\nb', isCut: false });
    expect(withPieces({ ...empty, cursor: 9 }, [])).toEqual({ cursor: 9, text: '', isCut: false });
  });

  test('loses its oldest lines', () => {
    const log = withPieces(empty, [{ seq: 1, text: 'one\ntwo\nthree\nfour' }], 12);
    expect(log).toEqual({ cursor: 1, text: 'three\nfour', isCut: true });
    expect(withPieces(empty, [{ seq: 1, text: 'x'.repeat(50) }], 12).text).toBe('x'.repeat(12));
  });
});
