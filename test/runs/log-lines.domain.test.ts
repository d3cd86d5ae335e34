import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { cutText, LineWalk, type LogGap, lineMark, plainLine } from '../../domain/runs/log-lines.ts';

const ESC = String.fromCharCode(27);

/** All lines of a log that comes in these pieces. */
function linesOf(
  pieces: readonly string[],
  kept?: number,
): { lines: [number, string][]; total: number; gap: LogGap | null } {
  const walk = new LineWalk(undefined, kept);
  const lines: [number, string][] = [];
  const take = (number: number, text: string) => lines.push([number, text]);
  for (const piece of pieces) walk.feed(piece, take);
  const total = walk.total();
  walk.finish(take);
  return { lines, total, gap: walk.gap() };
}
const NOTE = '[muster] 90 lines, 900 bytes of output were left out here';

describe('lines of a log', () => {
  test.each<[string, string[], string[]]>([
    ['nothing', [], []],
    ['empty pieces', ['', ''], []],
    ['whole lines', ['a\nb\n'], ['a', 'b']],
    ['a line that goes on', ['a\nb', 'c\nd'], ['a', 'bc', 'd']],
    ['empty lines', ['\n\na\n', '\n'], ['', '', 'a', '']],
    ['a line end alone', ['a', '\n'], ['a']],
  ])('%s', (_, pieces, lines) => {
    expect(linesOf(pieces)).toEqual({
      lines: lines.map((text, index) => [index + 1, text]),
      total: lines.length,
      gap: null,
    });
  });

  test('are the same however the log is cut into pieces', () => {
    const piece = fc.constantFrom('a', 'bc\n', '\n', '\n\n', `\n${NOTE}\n`, NOTE, 'x\ny');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const text = pieces.join('');
        expect(linesOf(pieces)).toEqual(linesOf([text]));
        expect(linesOf([...text])).toEqual(linesOf([text]));
      }),
    );
  });

  test('keep their numbers behind a gap, whose note is no line', () => {
    expect(linesOf([`a\nb\n\n${NOTE}\nc\nd\n`])).toEqual({
      lines: [
        [1, 'a'],
        [2, 'b'],
        [93, 'c'],
        [94, 'd'],
      ],
      total: 94,
      gap: { after: 2, lines: 90, bytes: 900 },
    });
  });

  test('that end inside a line before a gap, and empty ones before it, count as lines', () => {
    expect(linesOf([`a\nb\n${NOTE}\nc\n`]).lines.map(([number]) => number)).toEqual([1, 2, 93]);
    expect(linesOf([`a\n\n\n${NOTE}\nc\n`]).lines).toEqual([
      [1, 'a'],
      [2, ''],
      [93, 'c'],
    ]);
  });

  test('of a release that did not count them go on from the gap', () => {
    const old = 'a\n\n[muster] 900 bytes of output were left out here\nb\n';
    expect(linesOf([old])).toEqual({
      lines: [
        [1, 'a'],
        [2, 'b'],
      ],
      total: 2,
      gap: { after: 1, lines: null, bytes: 900 },
    });
  });

  test('that say the same as a note again are lines', () => {
    const { lines, gap } = linesOf([`${NOTE}\n${NOTE}\nend\n`]);
    expect(lines).toEqual([
      [91, NOTE],
      [92, 'end'],
    ]);
    expect(gap).toEqual({ after: 0, lines: 90, bytes: 900 });
  });

  test('of any length are kept as far as was said, and counted whole', () => {
    const lengths: [string, number][] = [];
    const walk = new LineWalk(undefined, 4);
    for (const piece of ['abcdefgh\n', 'ij', 'kl', 'mn\n', 'op'])
      walk.feed(piece, (_, text, length) => lengths.push([text, length]));
    walk.finish((_, text, length) => lengths.push([text, length]));
    expect(lengths).toEqual([
      ['abcd', 8],
      ['ijkl', 6],
      ['op', 2],
    ]);
  });

  test('are walked on from any place where the walk may be taken up', () => {
    const pieces = ['a\n', '\n', 'b', 'c\nd\n', `\n${NOTE}\n`, 'e\nf\n'];
    const all = linesOf(pieces).lines;
    for (let count = 0; count <= pieces.length; count += 1) {
      const first = new LineWalk();
      for (const piece of pieces.slice(0, count)) first.feed(piece, () => undefined);
      const place = first.place();
      if (place === null) continue;
      const rest: [number, string][] = [];
      const second = new LineWalk(place);
      for (const piece of pieces.slice(count)) second.feed(piece, (number, text) => rest.push([number, text]));
      second.finish((number, text) => rest.push([number, text]));
      expect(rest).toEqual(all.filter(([number]) => number >= place.next));
    }
  });
});

test.each([
  ['fatal: [n1]: FAILED! => {}', 'failed'],
  ['failed: [n1] (item=a) => {}', 'failed'],
  ['fatal: [n1]: UNREACHABLE! => {}', 'unreachable'],
  [`${ESC}[0;31mfatal: [n1]: FAILED! => {}${ESC}[0m`, 'failed'],
  ['TASK [Install] ****', 'task'],
  ['RUNNING HANDLER [Restart] ****', 'task'],
  ['PLAY [all] ****', 'play'],
  ['PLAY RECAP ****', null],
  ['ok: [n1]', null],
  ['failed to say', null],
  ['', null],
])('%j marks %s', (line, mark) => expect(lineMark(line)).toBe(mark));

test('a line without colours', () => expect(plainLine(`${ESC}[0;32mok${ESC}[0m: [n1]`)).toBe('ok: [n1]'));

test('a text is never cut inside a character', () => {
  expect(cutText('ab', 2)).toBe('ab');
  expect(cutText('a\u{1f600}b', 2)).toBe('a');
  expect(cutText('a\u{1f600}b', 3)).toBe('a\u{1f600}');
});
