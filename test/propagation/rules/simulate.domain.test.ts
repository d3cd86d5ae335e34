import { describe, expect, test } from '@jest/globals';
import { type MusterError, problemOf } from '../../../domain/errors.ts';
import { simulate, unusedNames } from '../../../domain/propagation/simulate.ts';
import { SimulateAnswerSchema, type SimulateInput } from '../../../domain/propagation/simulate-schema.ts';

function refusal(input: unknown): MusterError {
  try {
    simulate(input as SimulateInput);
  } catch (error) {
    return error as MusterError;
  }
  throw new Error('nothing was refused');
}

const CHAIN = { staged: ['a.run'], events: ['on a.run changed b.run', 'on b.run changed c.run'] };

describe('events', () => {
  test('are given as text, as lines, as objects, and answered once each, by their text', () => {
    const object = { type: 'react_on', parent: 'a.run', on: 'changed', child: 'b.run' } as const;
    const asText = simulate({ ...CHAIN, events: `${CHAIN.events.join('\n')}\n# end` });
    expect(simulate(CHAIN)).toEqual(asText);
    expect(simulate({ ...CHAIN, events: [...CHAIN.events, object] })).toEqual(asText);
    expect(asText.events).toEqual([
      { ...object, text: 'on a.run changed b.run' },
      { type: 'react_on', parent: 'b.run', on: 'changed', child: 'c.run', text: 'on b.run changed c.run' },
    ]);
  });

  test('are only read where nothing is staged', () => {
    const { events, nodes, run } = simulate({ staged: [], events: 'on a.* ok b.run' });
    expect([events.length, nodes, run.result]).toEqual([1, [], 'succeeded']);
  });

  test('may name a resource without an action where it is named with one elsewhere', () => {
    const input = { staged: ['rmq.cluster.run'], events: 'on rmq.cluster changed m.join' };
    expect(simulate(input).events[0]?.parent).toBe('rmq.cluster.*');
    expect(refusal({ ...input, events: `${input.events}\non rmq.run ok m.join` })).toMatchObject({
      code: 'event_ambiguous',
      errors: [{ line: 1, column: 4 }],
    });
    const dotted = ['on a.b changed c.run', 'on a.b.run changed c.run'];
    expect(simulate({ staged: [], events: dotted })).toEqual(simulate({ staged: [], events: dotted.toReversed() }));
  });

  test('are refused with the number of their entry and the name of the member', () => {
    const wrong = { type: 'state_change', parent: 'a.run', on: 'sometimes', child: 'b' };
    expect(refusal({ staged: [], events: ['on a.run ok b.run', wrong, 'on a.run'] })).toMatchObject({
      code: 'event_syntax',
      errors: [
        { code: 'event_syntax', field: 'events.1.type', line: 2 },
        { code: 'event_condition', field: 'events.1.on', line: 2 },
        { code: 'event_syntax', field: 'events.1.child', line: 2 },
        { code: 'event_syntax', line: 3, column: 9 },
      ],
    });
  });

  test('of resources that are not among the given ones are refused, staged actions too', () => {
    expect(refusal({ ...CHAIN, resources: ['a', 'b'] })).toMatchObject({
      code: 'unknown_resource',
      errors: [{ line: 2 }],
    });
    expect(refusal({ staged: ['x.run'], events: '', resources: ['a'] })).toMatchObject({
      code: 'unknown_resource',
      errors: [{ field: 'staged.0' }],
    });
  });
});

describe('input of another form is refused', () => {
  test.each([
    [null, 'bad_request'],
    [{ events: '' }, 'bad_request'],
    [{ staged: ['a'], events: '' }, 'bad_request'],
    [{ staged: ['a.run'], events: '', colour: 'red' }, 'bad_request'],
    [{ staged: ['a.run'], events: '', outcomes: { 'a.run': 'fine' } }, 'bad_request'],
    [{ staged: ['a.run'], events: '', outcomes: { 'a.run': [] } }, 'bad_request'],
    [{ staged: ['a.run'], events: '', items: 0 }, 'bad_request'],
    [{ staged: ['a.run'], events: '', type_limits: { x: 0 } }, 'bad_request'],
    [{ staged: ['a.run'], events: '', tasks: [] }, 'not_supported'],
    [{ staged: ['a.run'], events: '', filter: { end: ['a.run'] } }, 'not_supported'],
  ])('%j: %s', (input, code) => {
    expect(refusal(input)).toMatchObject({ code });
  });

  test('a member that is not built is named', () => {
    expect(refusal({ staged: [], events: '', filter: {} })).toMatchObject({ field: 'filter' });
  });

  test('the problem document holds all mistakes', () => {
    const problem = problemOf(refusal({ staged: [], events: 'on a.run odd b.run\nafter x' }));
    expect(problem).toMatchObject({ status: 400, code: 'event_condition' });
    expect(problem.errors?.map(({ line, code }) => [line, code])).toEqual([
      [1, 'event_condition'],
      [2, 'event_syntax'],
    ]);
  });
});

describe('outcomes', () => {
  test('of an occurrence win over those of its action; x#0 names an action that is not repeated', () => {
    const loop = { staged: ['a.run'], events: 'on a.run changed a.run\non a.run success b.run' };
    const { run } = simulate({ ...loop, outcomes: { 'a.run': 'ok', 'a.run#0': 'changed', 'b.run#0': 'created' } });
    expect(run.outcomes).toEqual({ 'a.run#0': 'changed', 'a.run#1': 'ok', 'b.run': 'created' });
  });

  test('of attempts follow one another, the last holds on', () => {
    const actions = { 'a.run': { retry: 3 }, 'b.run': { retry: 1 } };
    const { run, waves } = simulate({
      ...CHAIN,
      actions,
      outcomes: { 'a.run': ['failed', 'error', 'changed'], 'b.run': ['failed'] },
    });
    expect(run.attempts).toEqual({ 'a.run': 3, 'b.run': 2, 'c.run': 0 });
    expect(run.statuses).toEqual({ 'a.run': 'success', 'b.run': 'error', 'c.run': 'blocked' });
    expect(run.outcomes).toEqual({ 'a.run': 'changed', 'b.run': 'failed' });
    expect(waves).toEqual([['a.run'], ['b.run']]);
  });

  test('of names that the plan has not have no effect, and are told', () => {
    const input: SimulateInput = {
      ...CHAIN,
      outcomes: { 'x.run': 'failed', 'a.run#0': 'ok' },
      initial: {},
      actions: { 'y.run': {} },
    };
    expect(simulate(input).run.result).toBe('succeeded');
    expect(unusedNames(input, simulate(input))).toEqual(['x.run', 'y.run']);
  });

  test('of a plain object alone count: names of its prototype do not', () => {
    const input = { staged: ['a.constructor', 'a.toString'], events: '', actions: {}, outcomes: {} };
    expect(simulate(input).run.result).toBe('succeeded');
  });
});

describe('limits', () => {
  test('the heaviest start first, one on each target', () => {
    const { waves, startable } = simulate({
      staged: ['s1.run', 's2.run', 's3.run'],
      events: 'after s2.run success s3.run',
      actions: { 's1.run': { target: '1' }, 's2.run': { target: '1' }, 's3.run': { target: '2' } },
    });
    expect(startable).toEqual(['s2.run', 's1.run']);
    expect(waves).toEqual([['s2.run'], ['s1.run', 's3.run']]);
  });

  test('a given weight replaces the one that follows from the graph', () => {
    const { nodes, waves } = simulate({
      staged: ['a.run', 'b.run'],
      events: 'on b.run ok c.run',
      actions: { 'a.run': { weight: 7 } },
      items: 1,
    });
    expect(nodes.map(({ id, weight }) => [id, weight])).toEqual([
      ['a.run', 7],
      ['b.run', 1],
      ['c.run', 0],
    ]);
    expect(waves).toEqual([['a.run'], ['b.run']]);
  });
});

describe('a plan that has begun', () => {
  test('goes on where it stands', () => {
    const { run, startable, waves } = simulate({
      ...CHAIN,
      initial: { 'a.run': { status: 'success', outcome: 'changed' } },
    });
    expect([startable, waves, run.result]).toEqual([['b.run'], [['b.run'], ['c.run']], 'succeeded']);
    expect(run.attempts).toEqual({ 'a.run': 1, 'b.run': 1, 'c.run': 1 });
  });

  test.each([
    [{ status: 'noop' }, 'changed', 'success'],
    [{ status: 'noop', reason: 'operator', outcome: 'ok' }, 'ok', 'noop'],
    [{ status: 'noop', reason: 'not-triggered' }, undefined, 'noop'],
    [{ status: 'error' }, 'failed', 'blocked'],
    [{ status: 'skipped' }, undefined, 'blocked'],
  ] as const)('with the first action %j', (state, outcome, next) => {
    const { run, startable } = simulate({ ...CHAIN, initial: { 'a.run': state } });
    expect(run.outcomes['a.run']).toBe(outcome);
    expect(run.statuses['b.run']).toBe(next);
    expect(startable).toEqual(next === 'success' ? ['b.run'] : []);
  });

  test('an action in progress takes its place and ends with the first round', () => {
    const { waves, run } = simulate({
      staged: ['a.run', 'b.run'],
      events: 'on a.run changed c.run',
      items: 1,
      initial: { 'a.run': { status: 'in_progress' } },
    });
    expect(waves).toEqual([['c.run'], ['b.run']].sort());
    expect(run.attempts['a.run']).toBe(1);
  });

  test('an action that is to be tried again has made an attempt', () => {
    const { run, startable } = simulate({
      ...CHAIN,
      actions: { 'a.run': { retry: 2 } },
      outcomes: { 'a.run': ['failed', 'failed', 'ok'] },
      initial: { 'a.run': { status: 'error_retry' } },
    });
    expect(startable).toEqual(['a.run']);
    expect([run.attempts['a.run'], run.outcomes['a.run']]).toEqual([3, 'ok']);
  });

  test('that was stopped says so', () => {
    expect(simulate({ ...CHAIN, initial: { 'a.run': { status: 'skipped' } } }).run.result).toBe('stopped');
  });
});

test('the answer has the published form', () => {
  const answer = simulate({ staged: ['a.run', 'b.remove'], events: 'on a.run changed a.run\non a.run ok b.run' });
  expect(SimulateAnswerSchema.parse(answer)).toEqual(answer);
  expect(answer.kept).toEqual(answer.order);
  expect(answer.suppressed).toEqual([
    { type: 'react_on', parent: 'a.run', on: 'ok', child: 'b.run', reason: 'child-removed' },
  ]);
});
