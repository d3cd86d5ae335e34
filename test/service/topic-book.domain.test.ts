import { expect, test } from '@jest/globals';
import { createTopicBook } from '../../api/server/streaming/topics.ts';

const log = { warn: () => undefined };

test('a stream goes on while what topics are of can be read, and ends without a word when it cannot', async () => {
  let left = 3;
  const book = createTopicBook({ sources: {}, log, heartbeatMs: 1, answers: async () => left-- > 0 });
  const said: string[] = [];
  for await (const piece of book.open({ actor: null, caller: null }, [], null).messages(new AbortController().signal))
    said.push(piece);
  expect(said.map((piece) => piece.split('\n')[0])).toEqual([
    'retry: 1000',
    ': still here',
    ': still here',
    ': still here',
  ]);
  book.close();
});
