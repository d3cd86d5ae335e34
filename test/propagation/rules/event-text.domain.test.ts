import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { MusterError } from '../../../domain/errors.ts';
import { defaultEvents, EVENT_POLICIES } from '../../../domain/propagation/default-events.ts';
import { CONDITIONS, EVENT_TYPES } from '../../../domain/propagation/event-schema.ts';
import { parseEvents, renderEvent } from '../../../domain/propagation/event-text.ts';

/** The refusal of a text. */
function refusal(text: string, known?: Parameters<typeof parseEvents>[1]): MusterError {
  try {
    parseEvents(text, known);
  } catch (error) {
    return error as MusterError;
  }
  throw new Error(`'${text}' was not refused`);
}

describe('a line of an event', () => {
  test('has a keyword, an emitter, a condition and a subscriber', () => {
    expect(parseEvents('on mariadb.run changed keystone.run\nafter a.run success b.run')).toEqual([
      { type: 'react_on', parent: 'mariadb.run', on: 'changed', child: 'keystone.run' },
      { type: 'depends_on', parent: 'a.run', on: 'success', child: 'b.run' },
    ]);
  });

  test('may have blanks, tabs and line ends of any system around its words', () => {
    const [event] = parseEvents('  on\ta.run \t changed   b.run  \r\n\r\n\t\n');
    expect(event && renderEvent(event)).toBe('on a.run changed b.run');
  });

  test('may be a comment, or end with one; a # inside of a word begins none', () => {
    expect(parseEvents('# all\n  # of it\non a.run ok b.run # why')).toHaveLength(1);
    expect(refusal('on a.run ok b.run#why')).toMatchObject({ code: 'event_syntax', errors: [{ line: 1, column: 13 }] });
  });

  test.each([
    ['x.y.z', 'resource x.y, action z', 'on rmq.1.run changed node/7/rmq.cluster.re-load'],
    ['names', 'digits, underscores, slashes and dashes', 'after 0_a/b-c.d.run any _x._y'],
  ])('splits a node at its last dot: %s is %s', (_, __, line) => {
    expect(parseEvents(line).map(renderEvent)).toEqual([line]);
  });

  test.each(CONDITIONS)('knows the condition %s', (on) => {
    expect(parseEvents(`on a.run ${on} b.run`)).toEqual([expect.objectContaining({ on })]);
  });
});

describe('an emitter without an action', () => {
  test('stands for every action of its resource where resources are known', () => {
    const [event] = parseEvents('on sink changed m.run', { resources: ['sink', 'm'] });
    expect(event?.parent).toBe('sink.*');
    const [dotted] = parseEvents('on rmq.cluster changed m.run', { resources: ['rmq.cluster', 'm'] });
    expect(dotted?.parent).toBe('rmq.cluster.*');
  });

  test('is refused where resources are not known', () => {
    expect(refusal('on sink changed m.run')).toMatchObject({ code: 'event_syntax', errors: [{ line: 1, column: 4 }] });
  });

  test('is refused where it may as well be an action of another resource', () => {
    const resources = ['rmq', 'rmq.cluster', 'm'];
    expect(refusal('on rmq.cluster changed m.run', { resources })).toMatchObject({
      code: 'event_ambiguous',
      errors: [{ line: 1, column: 4 }],
    });
    expect(parseEvents('on rmq.cluster.* changed m.run', { resources })[0]?.parent).toBe('rmq.cluster.*');
  });
});

describe('a mistake is told with its place', () => {
  test.each([
    ['when a.run ok b.run', 'event_syntax', 1],
    ['ON a.run ok b.run', 'event_syntax', 1],
    ['on .run ok b.run', 'event_syntax', 4],
    ['on a.run ok b', 'event_syntax', 13],
    ['on a.run ok b.*', 'event_syntax', 13],
    ['on a.1run ok b.run', 'event_syntax', 4],
    ['on a/../b.run ok b.run', 'event_syntax', 4],
    ['on a.run ok b.run c.run', 'event_syntax', 19],
    ['on a.run b.run', 'event_syntax', 15],
    ['on', 'event_syntax', 3],
    [`on a.${'x'.repeat(65)} ok b.run`, 'event_syntax', 4],
    ['on a.run weird b.run', 'event_condition', 10],
    ['on a.run Changed b.run', 'event_condition', 10],
  ])('%s', (line, code, column) => {
    expect(refusal(`# first line\n${line}`)).toMatchObject({ code, errors: [{ code, line: 2, column }] });
  });

  test('unknown resources and actions, where they are known', () => {
    const known = {
      resources: ['a', 'b'],
      defines: (resource: string, action: string) => resource === 'a' || action === 'run',
    };
    expect(refusal('on c.run ok b.run', known)).toMatchObject({ code: 'unknown_resource', errors: [{ column: 4 }] });
    expect(refusal('on a.run ok c.run', known)).toMatchObject({ code: 'unknown_resource', errors: [{ column: 13 }] });
    expect(refusal('on a.x ok b.join', known)).toMatchObject({ code: 'action_not_defined', errors: [{ column: 11 }] });
  });

  test('all mistakes of a text are told, the first gives the code', () => {
    const { code, errors } = refusal('on a.run odd b\nafter a.run ok b.run\nwhen a.run ok b.run');
    expect(code).toBe('event_condition');
    expect(errors?.map(({ line, column, code }) => [line, column, code])).toEqual([
      [1, 10, 'event_condition'],
      [1, 14, 'event_syntax'],
      [3, 1, 'event_syntax'],
    ]);
  });
});

test('what was written is read as it was', () => {
  const first = fc.constantFrom(...'abzAZ09_');
  const letters = fc.string({ unit: fc.constantFrom(...'abZ09_-'), maxLength: 8 });
  const resource = fc
    .array(fc.tuple(first, letters), { minLength: 1, maxLength: 3 })
    .chain((parts) => fc.constantFrom('.', '/', '-').map((sign) => parts.map((part) => part.join('')).join(sign)));
  const action = fc.tuple(fc.constantFrom(...'abZ_'), letters).map((parts) => parts.join(''));
  const node = fc.tuple(resource, action).map((parts) => parts.join('.'));
  const event = fc.record({
    type: fc.constantFrom(...EVENT_TYPES),
    parent: fc.oneof(
      node,
      resource.map((name) => `${name}.*`),
    ),
    on: fc.constantFrom(...CONDITIONS),
    child: node,
  });
  fc.assert(
    fc.property(fc.array(event), (events) => {
      expect(parseEvents(events.map(renderEvent).join('\n'))).toEqual(events);
    }),
  );
});

test('any text is read or refused with places that are in it', () => {
  const word = fc.oneof(fc.constantFrom('on', 'after', 'a.run', 'a.*', 'a', 'ok', '#', '\n', '\t'), fc.string());
  fc.assert(
    fc.property(fc.array(word), (words) => {
      const text = words.join(' ');
      try {
        parseEvents(text);
      } catch (error) {
        const lines = text.split(/\r?\n/);
        for (const { line = 0, column = 0 } of (error as MusterError).errors ?? [{}]) {
          expect(lines[line - 1]).toBeDefined();
          expect(column).toBeGreaterThan(0);
          expect(column).toBeLessThanOrEqual((lines[line - 1] ?? '').length + 1);
        }
      }
    }),
  );
});

describe('events of a connection', () => {
  const lines = (policy: (typeof EVENT_POLICIES)[number] | undefined, actions: string[]) =>
    defaultEvents({ emitter: 'a.1', receiver: 'b', actions, ...(policy && { policy }) }).map(renderEvent);
  const ordered = [
    'after a.1.run success b.run',
    'after a.1.update success b.update',
    'after b.remove success a.1.remove',
  ];
  const reacting = ['on a.1.run changed b.reload', 'on a.1.remove changed b.run'];

  test.each([
    ['dependency', ['run', 'reload'], ordered],
    ['reaction', ['run', 'reload'], reacting],
    ['reaction', ['run'], reacting.slice(1)],
    ['reaction', ['reload'], reacting.slice(0, 1)],
    ['full', ['run', 'reload'], [...ordered, ...reacting]],
    ['full', [], ordered],
    [undefined, ['run', 'reload'], [...ordered, ...reacting]],
    ['none', ['run', 'reload'], []],
  ] as const)('of policy %s to a resource with %j', (policy, actions, expected) => {
    expect(lines(policy, [...actions])).toEqual(expected);
  });

  test.each(EVENT_POLICIES)('are none from a resource to itself (%s)', (policy) => {
    expect(defaultEvents({ emitter: 'a', receiver: 'a', policy, actions: ['run', 'reload'] })).toEqual([]);
  });
});
