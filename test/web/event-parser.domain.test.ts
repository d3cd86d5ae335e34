import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { eventParser } from '../../web/src/shared/live/event-parser.ts';

const TEXT =
  'retry: 1000\n\nevent: hello\ndata: {"a":1}\n\n: still here\n\nid: x-1\nevent: changed\ndata: 1\ndata: 2\n\n';
const MESSAGES = [
  { id: null, event: 'hello', data: '{"a":1}' },
  { id: 'x-1', event: 'changed', data: '1\n2' },
];

test('messages are read, comments are none', () => expect(eventParser()(TEXT)).toEqual(MESSAGES));

test('it does not matter where the pieces are cut', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(TEXT.length), { maxLength: 20 }), (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), TEXT.length];
      const parse = eventParser();
      const found = places.slice(1).flatMap((end, index) => parse(TEXT.slice(places[index], end)));
      expect(found).toEqual(MESSAGES);
    }),
  );
});

test('a message without end is refused', () => {
  const parse = eventParser();
  expect(() => {
    for (let piece = 0; piece < 11; piece += 1) parse('x'.repeat(100_000));
  }).toThrow('has no end');
});
