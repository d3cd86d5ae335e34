import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Diff, detailLines, diffOf, guessAction, patch, revert } from '../../../domain/propagation/diff.ts';

describe('a diff leads from one value to the other', () => {
  test.each<[string, unknown, unknown, Diff]>([
    ['equal values differ in nothing', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
    [
      'members that are added stand together',
      {},
      { b: 2, a: 1 },
      [
        [
          'add',
          [],
          [
            ['a', 1],
            ['b', 2],
          ],
        ],
      ],
    ],
    [
      'members that are removed stand together',
      { b: 2, a: 1 },
      {},
      [
        [
          'remove',
          [],
          [
            ['a', 1],
            ['b', 2],
          ],
        ],
      ],
    ],
    ['a value that changes has both values', { port: 1 }, { port: 2 }, [['change', ['port'], [1, 2]]]],
    [
      'changes come in the order of keys, then what is added, then what is removed',
      { z: 1, gone: 1, a: { x: 1, old: 0 } },
      { z: 2, made: 1, a: { x: 2, new: 0 } },
      [
        ['change', ['a', 'x'], [1, 2]],
        ['add', ['a'], [['new', 0]]],
        ['remove', ['a'], [['old', 0]]],
        ['change', ['z'], [1, 2]],
        ['add', [], [['made', 1]]],
        ['remove', [], [['gone', 1]]],
      ],
    ],
    ['lists of one length differ by place', { l: [1, 2, 3] }, { l: [1, 9, 3] }, [['change', ['l', 1], [2, 9]]]],
    ['lists of other lengths are one change', { l: [1, 2] }, { l: [1] }, [['change', ['l'], [[1, 2], [1]]]]],
    ['a list and an object are one change', { l: [] }, { l: {} }, [['change', ['l'], [[], {}]]]],
    ['a null is no object', { a: null }, { a: {} }, [['change', ['a'], [null, {}]]]],
    ['the top itself can change', 1, 'one', [['change', [], [1, 'one']]]],
  ])('%s', (_rule, from, to, expected) => {
    expect(diffOf(from, to)).toEqual(expected);
    expect(patch(expected, from)).toEqual(to);
    expect(revert(expected, to)).toEqual(from);
  });

  test('patch leads forth and revert back between any two values, which stay as they are', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (from, to) => {
        const before = JSON.stringify([from, to]);
        const diff = diffOf(from, to);
        expect(patch(diff, from)).toEqual(to);
        expect(revert(diff, to)).toEqual(from);
        expect(JSON.stringify([from, to])).toBe(before);
      }),
    );
  });

  test('patch leads forth and revert back between objects that share most members', () => {
    const members = fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'constructor'), fc.jsonValue({ maxDepth: 2 }));
    fc.assert(
      fc.property(members, members, (from, to) => {
        const diff = diffOf(from, to);
        expect(JSON.stringify(sorted(patch(diff, from)))).toBe(JSON.stringify(sorted(to)));
        expect(JSON.stringify(sorted(revert(diff, to)))).toBe(JSON.stringify(sorted(from)));
      }),
    );
  });

  test('a key at the top may stand without its list', () => {
    const diff = [['change', 'port', [1, 2]]] as unknown as Diff;
    expect(patch(diff, { port: 1 })).toEqual({ port: 2 });
    expect(detailLines(diff)).toEqual(['-+ port: 1 >> 2']);
  });

  test('a diff of another value is refused', () => {
    expect(() => patch([['change', ['a', 'b'], [1, 2]]], { a: {}, c: 1 })).not.toThrow();
    expect(() => patch([['add', ['a', 'b'], [['c', 1]]]], { a: {} })).toThrow('nothing at a.b');
  });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.keys(value)
    .sort()
    .map((key) => [key, sorted((value as Record<string, unknown>)[key])]);
}

describe('lines of a diff', () => {
  test('name what is added, removed and changed', () => {
    const from = { gone: 1, port: 80, list: ['a', 'b'], deep: { list: [{ k: 1 }] } };
    const to = { made: { k: null }, port: 81, list: ['a', 'c'], deep: { list: [{ k: 2, n: true }] } };
    expect(detailLines(diffOf(from, to))).toEqual([
      '-+ deep:[list.0.k] : 1 >> 2',
      '++ deep:[list.0.n] : true',
      '-+ list:[1] : b >> c',
      '-+ port: 80 >> 81',
      '++ made: {"k":null}',
      '-- gone: 1',
    ]);
  });

  test('show no reference to a secret', () => {
    const [one, other] = ['propagation-a', 'propagation-b'].map((secret) => ({ secret, key: 'k' }));
    const lines = detailLines(
      diffOf({ key: one, old: one }, { key: one && { ...one, key: 'l' }, all: { deep: [other] } }),
    );
    expect(lines.join('\n')).not.toContain('propagation-');
    expect(lines).toContain('++ all: {"deep":[***]}');
    expect(lines).toContain('-- old: ***');
  });
});

test.each([
  [null, { a: 1 }, 'run'],
  [{}, {}, 'run'],
  [{ a: 1 }, {}, 'remove'],
  [{ a: 1 }, { a: 2 }, 'update'],
])('from %j to %j the action is guessed to be %s', (committed, current, action) => {
  expect(guessAction(committed, current)).toBe(action);
});
