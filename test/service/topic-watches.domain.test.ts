/** Watches of topics, over a source that counts the looks at it. */
import { afterEach, expect, test } from '@jest/globals';
import type { OpenTopic } from '../../api/server/streaming/topic-watches.ts';
import { createTopicBook, type TopicBook, type TopicReader } from '../../api/server/streaming/topics.ts';
import { eventually } from '../support/eventually.ts';

const log = { warn: () => undefined };
const asker = { actor: null, caller: null };
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** A topic of any key, at which a look follows the other. */
function source() {
  const state = { revision: 'a', looks: 0 };
  const open: OpenTopic = () => ({
    gapMs: 1,
    join: () => ({ version: 0, changed: async () => true, leave: () => undefined }),
    read: async () => {
      state.looks += 1;
      return state.revision;
    },
  });
  return { state, open };
}
function bookOf(open: OpenTopic, most?: number): TopicBook {
  const book = createTopicBook({ sources: { list: open }, log, answers: async () => true, ...(most && { most }) });
  stops.push(() => book.close());
  return book;
}
/** Collects the messages of a stream. */
function listen(reader: TopicReader): string[] {
  const said: string[] = [];
  const stop = new AbortController();
  stops.push(() => stop.abort());
  void (async () => {
    for await (const piece of reader.messages(stop.signal)) said.push(piece);
  })();
  return said;
}
/** Waits until nothing is looked at any more. */
async function rest(state: { looks: number }): Promise<void> {
  let before = -1;
  await eventually(
    'the looks end',
    () => {
      const isSame = state.looks === before;
      before = state.looks;
      return isSame;
    },
    10_000,
  );
}
const told = (said: readonly string[], revision: string) =>
  said.find((piece) => piece.includes(`"revision":"${revision}"`));
const idOf = (piece: string | undefined) => /^id: (.+)$/m.exec(piece ?? '')?.[1] ?? null;

test('a topic without readers is not looked at, and what changed meanwhile is told to the reader that comes back', async () => {
  const { state, open } = source();
  const book = bookOf(open);
  const first = book.open(asker, ['list'], null);
  const heard = listen(first);
  await eventually('the first look is told', async () => told(heard, 'a') !== undefined, 10_000);
  first.leave();
  await rest(state);
  state.revision = 'b';
  const again = listen(book.open(asker, ['list'], idOf(told(heard, 'a'))));
  await eventually('the change is told', async () => told(again, 'b') !== undefined, 10_000);
  expect(again.filter((piece) => piece.includes('resync'))).toEqual([]);
});

test('a new reader of a topic that rested is told once, after a look', async () => {
  const { state, open } = source();
  const book = bookOf(open);
  const first = book.open(asker, ['list'], null);
  const heard = listen(first);
  await eventually('the first look is told', async () => told(heard, 'a') !== undefined, 10_000);
  first.leave();
  await rest(state);
  const second = listen(book.open(asker, ['list'], null));
  await eventually('it is told', async () => told(second, 'a') !== undefined, 10_000);
  const looks = state.looks + 5;
  await eventually('looks go on', async () => state.looks > looks, 10_000);
  expect(second.filter((piece) => piece.includes('event: changed'))).toHaveLength(1);
});

test('beyond so many topics those without readers go, then new ones are left out', async () => {
  const { open } = source();
  const book = bookOf(open, 2);
  const first = book.open(asker, ['list:1', 'list:2', 'list:3'], null);
  expect(first.setTopics(['list:1', 'list:2', 'list:3'])).toEqual({
    topics: ['list:1', 'list:2'],
    left_out: ['list:3'],
  });
  expect(first.setTopics(['list:1'])).toEqual({ topics: ['list:1'], left_out: [] });
  const second = book.open(asker, [], null);
  expect(second.setTopics(['list:3', 'list:4'])).toEqual({ topics: ['list:3'], left_out: ['list:4'] });
  first.leave();
  expect(second.setTopics(['list:3', 'list:4'])).toEqual({ topics: ['list:3', 'list:4'], left_out: [] });
});
