import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { StreamParser } from '../../cli/client/stream-parser.ts';

const parse = (...chunks: string[]) => {
  const parser = new StreamParser();
  return chunks.flatMap((chunk) => parser.push(chunk));
};

describe('event stream', () => {
  test('a message has its id, its event and its lines of data', () => {
    expect(parse('id: 7\nevent: progress\ndata: a\ndata: b\n\n')).toEqual([
      { id: '7', event: 'progress', data: 'a\nb' },
    ]);
  });

  test('the id stays for later messages, the event does not', () => {
    expect(parse('id: 7\nevent: x\ndata: a\n\ndata: b\n\n')).toEqual([
      { id: '7', event: 'x', data: 'a' },
      { id: '7', event: 'message', data: 'b' },
    ]);
  });

  test('comments and unknown fields are nothing, a message without data is none', () => {
    expect(parse(': keep-alive\n\nfoo: bar\nevent: x\n\ndata: a\n\n')).toEqual([
      { id: '', event: 'message', data: 'a' },
    ]);
  });

  test('only the first blank after the colon goes', () => {
    expect(parse('data:  a \n\n')).toEqual([{ id: '', event: 'message', data: ' a ' }]);
  });

  test('an unfinished message is not given out', () => {
    expect(parse('data: a\n')).toEqual([]);
  });

  test('the pause that the server asks for is kept', () => {
    const parser = new StreamParser();
    parser.push('retry: 1500\nretry: soon\n');
    expect(parser.retry).toBe(1500);
  });

  test('a parser that goes on knows the id it went on from', () => {
    expect(new StreamParser('41').push('data: a\n\n')).toEqual([{ id: '41', event: 'message', data: 'a' }]);
  });

  test('where the chunks are cut and which line ends are used does not matter', () => {
    const text = 'id: 1\nevent: e\ndata: one\ndata: two\n\n: c\ndata: three\n\n';
    const whole = parse(text);
    fc.assert(
      fc.property(
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        (end, sizes) => {
          const wire = `${text.replaceAll('\n', end)}: last\n`;
          const chunks: string[] = [];
          for (let at = 0, turn = 0; at < wire.length; turn += 1) {
            const size = sizes[turn % sizes.length] ?? 1;
            chunks.push(wire.slice(at, at + size));
            at += size;
          }
          expect(parse(...chunks)).toEqual(whole);
        },
      ),
    );
  });
});
