import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { changedBehind, markOf, markText, topicNames, topicOf, type Watched } from '../../domain/service/topics.ts';

const PROCESS = 'a'.repeat(16);

describe('a topic', () => {
  test.each([
    ['sessions', 'sessions', null],
    ['session:1-2', 'session', '1-2'],
    ['log:1/0/2', 'log', '1/0/2'],
    ['component:x1:c0', 'component', 'x1:c0'],
    ['session:', 'session', ''],
    [':a', '', 'a'],
  ])('%s has the word %j and the key %j', (name, word, key) => expect(topicOf(name)).toEqual({ word, key }));

  test.each([
    ['', []],
    ['sessions', ['sessions']],
    ['sessions,fleet,sessions,', ['sessions', 'fleet']],
    [',,', []],
  ])('the parameter %j names %j', (parameter, names) => expect(topicNames(parameter)).toEqual(names));
});

describe('a mark', () => {
  test('comes back from its text', () => {
    fc.assert(
      fc.property(fc.nat(), (count) => {
        expect(markOf(markText({ process: PROCESS, count }))).toEqual({ process: PROCESS, count });
      }),
    );
  });

  test.each(['', '5', `${PROCESS}`, `${PROCESS}-`, `${PROCESS}-x`, `${PROCESS}--1`, `b-${PROCESS}-1`, `${PROCESS}-1 `])(
    '%j is none',
    (text) => expect(markOf(text)).toBeNull(),
  );
});

describe('what changed behind a mark', () => {
  const watched = (known: Record<string, Watched>) => (topic: string) => known[topic];
  test.each<[string, string, string[], Record<string, Watched>, string[] | null]>([
    ['nothing is asked', PROCESS, [], {}, []],
    ['nothing changed', PROCESS, ['a'], { a: { since: 1, changed: 5 } }, []],
    ['one changed', PROCESS, ['a', 'b'], { a: { since: 1, changed: 6 }, b: { since: 5, changed: 5 } }, ['a']],
    ['a topic was not watched', PROCESS, ['a', 'b'], { a: { since: 1, changed: 6 } }, null],
    ['it is watched since later', PROCESS, ['a'], { a: { since: 6, changed: 6 } }, null],
    ['another process', 'b'.repeat(16), ['a'], { a: { since: 1, changed: 6 } }, null],
  ])('%s', (_what, process, topics, known, changed) => {
    expect(changedBehind({ process: PROCESS, count: 5 }, process, topics, watched(known))).toEqual(changed);
  });
});
