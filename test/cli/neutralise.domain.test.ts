import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { manyLines, oneLine } from '../../cli/terminal/neutralise.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: the characters that must not come through
const HARMFUL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff]/;

describe('text from hosts on a terminal', () => {
  test.each([
    ['an escape sequence', '\u001b[2Jgone', '\\x1b[2Jgone'],
    ['a window title', '\u001b]0;owned\u0007', '\\x1b]0;owned\\x07'],
    ['an eight-bit control sequence', '\u009b31m', '\\x9b31m'],
    ['a carriage return that hides the line', 'failed\rok', 'failed\\rok'],
    ['a line end that fakes a second line', 'a\nsession x succeeded', 'a\\nsession x succeeded'],
    ['a backspace', 'ab\b\bxy', 'ab\\x08\\x08xy'],
    ['an override of the writing direction', 'a\u202etxt.exe', 'a\\u202etxt.exe'],
    ['ordinary text of any language', 'Grüße, 主機 ✓', 'Grüße, 主機 ✓'],
  ])('one line: %s', (_name, text, shown) => {
    expect(oneLine(text)).toBe(shown);
  });

  test('many lines keep line ends and tabs, and CRLF is a line end', () => {
    expect(manyLines('a\r\nb\tc\u001b[0m\rd\n')).toBe('a\nb\tc\\x1b[0m\\rd\n');
  });

  test('no steering character ever comes through', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(oneLine(text)).not.toMatch(HARMFUL);
        expect(oneLine(text)).not.toMatch(/[\n\t]/);
        expect(manyLines(text)).not.toMatch(HARMFUL);
      }),
    );
  });
});
