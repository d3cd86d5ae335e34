/** Values along connections, cycles among them, and what is staged because of them. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { cyclePath, type InputEdge } from '../../../domain/propagation/input-cycle.ts';
import type { InputKind } from '../../../domain/propagation/input-kind.ts';
import { actionOfEdit, discardOf, stateAfterEdit } from '../../../domain/propagation/item-state.ts';
import { type InputConnection, modelOf, resolver } from '../../../domain/propagation/resolve-inputs.ts';
import {
  type CommittedResource,
  type CurrentResource,
  itemDiff,
  stageItems,
} from '../../../domain/propagation/stage.ts';

/** `a.x -> r.y` or `a.x -> r.y:key` */
function connection(text: string): InputConnection {
  const [, emitter = '', emitter_input = '', receiver = '', input = '', key = null] =
    /^(\S+)\.(\w+) -> (\S+)\.(\w+)(?::(\w+))?$/.exec(text) ?? [];
  return { emitter, emitter_input, receiver, to: { input, key } };
}

function inputValue(inputs: Record<string, [InputKind, unknown]>, connections: string[], wanted: string): unknown {
  const names = new Set(Object.keys(inputs).map((name) => name.split('.')[0] ?? ''));
  const resources = [...names].map((name) => {
    const own = Object.entries(inputs).filter(([input]) => input.startsWith(`${name}.`));
    return {
      name,
      inputs: Object.fromEntries(own.map(([input, [, value]]) => [input.slice(name.length + 1), value])),
      kinds: Object.fromEntries(own.map(([input, [kind]]) => [input.slice(name.length + 1), kind])),
    };
  });
  const [resource = '', input = ''] = wanted.split('.');
  return resolver(modelOf(resources, connections.map(connection))).value(resource, input);
}

describe('the value of an input', () => {
  const inputs: Record<string, [InputKind, unknown]> = {
    'a.v': ['simple', 1],
    'b.v': ['simple', 2],
    'a.l': ['list', [1, 2]],
    'b.l': ['list', [3]],
    'a.h': ['hash', { x: 1 }],
    'r.v': ['simple', 'own'],
    'r.l': ['list', ['own']],
    'r.h': ['hash', { own: 0, k: 0 }],
    's.v': ['simple', null],
  };

  test.each<[string, string[], string, unknown]>([
    ['is its own without a connection', [], 'r.v', 'own'],
    ['is the emitter’s', ['a.v -> r.v'], 'r.v', 1],
    ['comes through receivers that hand it on', ['a.v -> r.v', 'r.v -> s.v'], 's.v', 1],
    ['of a list is the values in the order of their connections', ['b.v -> r.l', 'a.v -> r.l'], 'r.l', [2, 1]],
    ['of a list is a list of one value', ['a.v -> r.l'], 'r.l', [1]],
    ['of a list is the emitter’s list itself', ['a.l -> r.l'], 'r.l', [1, 2]],
    ['of a list is a list of lists from several', ['a.l -> r.l', 'b.l -> r.l'], 'r.l', [[1, 2], [3]]],
    ['of a list is a list of one object', ['a.h -> r.l'], 'r.l', [{ x: 1 }]],
    ['of an object is the emitter’s object', ['a.h -> r.h'], 'r.h', { x: 1 }],
    [
      'of an object has connected members over its own',
      ['a.v -> r.h:k', 'b.v -> r.h:m'],
      'r.h',
      { own: 0, k: 1, m: 2 },
    ],
    ['of an unknown source is null', ['gone.v -> r.v'], 'r.v', null],
  ])('%s', (_rule, connections, wanted, expected) => {
    expect(inputValue(inputs, connections, wanted)).toEqual(expected);
  });

  test('comes through a chain of 100,000 connections', () => {
    const chain = Array.from({ length: 100_000 }, (_, index) => ({
      name: `n${index}`,
      inputs: { v: index },
      kinds: { v: 'simple' as const },
    }));
    const connections = chain.slice(1).map(({ name }, index) => connection(`n${index}.v -> ${name}.v`));
    expect(resolver(modelOf(chain, connections)).inputs('n99999')).toEqual({ v: 0 });
  });

  test('that feeds two ways into one is read once', () => {
    const levels = Array.from({ length: 40 }, (_, level) => [`a${level}`, `b${level}`]);
    const resources = levels.flat().map((name) => ({ name, inputs: { l: [name] }, kinds: { l: 'list' as const } }));
    const connections = levels
      .slice(1)
      .flatMap((to, index) =>
        to.flatMap((receiver) => (levels[index] ?? []).map((from) => connection(`${from}.l -> ${receiver}.l`))),
      );
    expect(resolver(modelOf(resources, connections)).value('a39', 'l')).toHaveLength(2);
  });

  test('that depends on itself is an error, not a loop', () => {
    expect(() => inputValue(inputs, ['r.v -> s.v', 's.v -> r.v'], 'r.v')).toThrow('depends on itself');
  });
});

describe('a cycle of inputs', () => {
  const edge = (text: string): InputEdge => {
    const { emitter, emitter_input, receiver, to } = connection(text);
    return { from: { resource: emitter, input: emitter_input }, to: { resource: receiver, input: to.input } };
  };

  test('is named by its path', () => {
    expect(cyclePath(['b.x -> c.x', 'c.x -> a.x', 'b.x -> d.x'].map(edge), edge('a.x -> b.x'))).toEqual([
      'b::x',
      'c::x',
      'a::x',
      'b::x',
    ]);
  });

  test('is none where resources feed each other through different inputs', () => {
    expect(cyclePath([edge('m.ip -> sink.members')], edge('sink.name -> m.cluster'))).toBeNull();
  });

  test('is found in a long chain', () => {
    const edges = Array.from({ length: 50_000 }, (_, index) => edge(`n${index}.x -> n${index + 1}.x`));
    expect(cyclePath(edges, edge('n50000.x -> n0.x'))).toHaveLength(50_002);
  });

  test('is never left by edges that are each added without one', () => {
    const place = fc.integer({ min: 0, max: 6 });
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(place, place).filter(([a, b]) => a !== b),
          { maxLength: 40 },
        ),
        (pairs) => {
          const kept: InputEdge[] = [];
          for (const [from, to] of pairs) {
            const added = edge(`n${from}.v -> n${to}.v`);
            if (cyclePath(kept, added) === null) kept.push(added);
          }
          const resources = Array.from({ length: 7 }, (_, index) => ({
            name: `n${index}`,
            inputs: { v: index },
            kinds: { v: 'list' as const },
          }));
          const connections = kept.map(({ from, to }) => ({
            emitter: from.resource,
            emitter_input: from.input,
            receiver: to.resource,
            to: { input: to.input, key: null },
          }));
          const values = resolver(modelOf(resources, connections));
          for (const { name } of resources) expect(() => values.inputs(name)).not.toThrow();
        },
      ),
    );
  });
});

describe('staging', () => {
  const current = (name: string, value: unknown, more: Partial<CurrentResource> = {}): CurrentResource => ({
    name,
    state: 'operational',
    resolved: { v: value },
    connections: [],
    tags: [],
    base_path: 'r/d/1.0.0',
    ...more,
  });
  const committed = (value: unknown, more: Partial<CommittedResource> = {}): CommittedResource => ({
    inputs: { v: value },
    connections: [],
    tags: [],
    base_path: 'r/d/1.0.0',
    state: 'operational',
    ...more,
  });
  const item = (uid: string, resource: string, action = 'update', more = {}) => ({
    uid,
    resource,
    action,
    explicit: false,
    plan: null,
    ...more,
  });
  const stage = (
    items: ReturnType<typeof item>[],
    receivers: string[],
    now: CurrentResource[],
    then: Record<string, CommittedResource>,
  ) =>
    stageItems({
      items,
      receivers,
      current: (name) => now.find((one) => one.name === name),
      committed: (name) => then[name],
    });

  test('adds receivers that differ, and none that does not or is staged', () => {
    const staging = stage(
      [item('1', 'a')],
      ['b', 'c', 'd', 'a'],
      [current('a', 2), current('b', 2), current('c', 1), current('d', 2, { state: 'created' })],
      { a: committed(1), b: committed(1), c: committed(1) },
    );
    expect(staging.kept).toEqual([{ uid: '1', diff: [['change', ['v'], [1, 2]]], connections_diff: [] }]);
    expect(staging.added).toEqual([
      { resource: 'b', action: 'update', diff: [['change', ['v'], [1, 2]]], connections_diff: [] },
      { resource: 'd', action: 'run', diff: [['add', [], [['v', 2]]]], connections_diff: [] },
    ]);
  });

  test('drops an item without a difference, but no run and none that was asked for', () => {
    const items = [
      item('1', 'a'),
      item('2', 'b', 'run'),
      item('3', 'c', 'restart', { explicit: true }),
      item('4', 'd', 'update', { explicit: true }),
      item('5', 'e', 'update', { plan: 'p' }),
    ];
    const names = ['a', 'b', 'c', 'd', 'e'];
    const records = Object.fromEntries(names.map((name) => [name, committed(1)]));
    const staging = stage(
      items,
      [],
      names.map((name) => current(name, 1)),
      records,
    );
    expect(staging.dropped).toEqual(['1']);
    expect(staging.kept.map(({ uid }) => uid)).toEqual(['2', '3', '4']);
  });

  test('takes a removed resource for empty, and one that was removed before for new', () => {
    expect(itemDiff(current('a', 1, { state: 'removed' }), committed(1)).diff).toEqual([['remove', [], [['v', 1]]]]);
    expect(itemDiff(current('a', 1), committed(1, { state: 'removed' })).diff).toEqual([['add', [], [['v', 1]]]]);
  });

  test('compares connections in their order by text', () => {
    const [one, other] = [
      ['b', 'v', 'a', 'v'],
      ['a', 'v', 'a', 'w'],
    ] as const;
    const now = current('a', 1, { connections: [one, other] });
    expect(itemDiff(now, committed(1, { connections: [other, one] })).connections_diff).toEqual([]);
    expect(itemDiff(now, committed(1, { connections: [one] })).connections_diff).toHaveLength(1);
  });
});

describe('states', () => {
  test.each([
    ['created', 'created'],
    ['operational', 'updated'],
    ['error', 'updated'],
    ['updated', 'updated'],
    ['removed', 'removed'],
  ] as const)('an edit makes %s %s', (before, after) => {
    expect(stateAfterEdit(before)).toBe(after);
  });

  test('an edit stages run until the first commit, and again after a committed removal', () => {
    expect([actionOfEdit(null), actionOfEdit('operational'), actionOfEdit('removed')]).toEqual([
      'run',
      'update',
      'run',
    ]);
  });

  test.each([
    ['remove', 'operational', 'restore state'],
    ['update', 'operational', 'restore committed'],
    ['run', null, 'delete resource'],
    ['run', 'operational', 'restore committed'],
    ['update', null, 'drop item'],
    ['restart', 'operational', 'drop item'],
  ] as const)('discarding %s of a resource that is committed as %s: %s', (action, state, expected) => {
    expect(discardOf(action, state)).toBe(expected);
  });
});
