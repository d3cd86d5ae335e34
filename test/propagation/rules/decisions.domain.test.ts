import { describe, expect, test } from '@jest/globals';
import { admit, byWeight, type Waiting } from '../../../domain/propagation/admission.ts';
import { decide } from '../../../domain/propagation/decide.ts';
import { CONDITIONS, type Condition, OUTCOMES, type Outcome } from '../../../domain/propagation/event-schema.ts';
import type { NodeStatus } from '../../../domain/propagation/plan-schema.ts';
import { planEnd } from '../../../domain/propagation/result.ts';
import {
  aggregateOf,
  type EdgeGroup,
  type Emitter,
  type Verdict,
  verdictOf,
} from '../../../domain/propagation/verdict.ts';

/** An emitter from `success:changed`, `error:failed`, `noop`, `blocked` ... */
function emitter(text: string, occurrence: 0 | 1 = 0): Emitter {
  const [status = '', outcome = null] = text.split(':');
  return { node: `n#${occurrence}`, occurrence, status: status as NodeStatus, outcome: outcome as Outcome | null };
}

const ended = (outcome: Outcome): string => `${['failed', 'error'].includes(outcome) ? 'error' : 'success'}:${outcome}`;

const group = (from: string[], on: Condition, type: EdgeGroup['type'] = 'react_on'): EdgeGroup => ({
  type,
  on,
  from: from.map((text, index) => emitter(text, index === 1 ? 1 : 0)),
});

describe('a condition', () => {
  const MATCHED: Record<Condition, Outcome[]> = {
    created: ['created'],
    changed: ['created', 'changed'],
    ok: ['ok'],
    success: ['created', 'changed', 'ok'],
    failed: ['failed'],
    error: ['error'],
    failure: ['failed', 'error'],
    any: [...OUTCOMES],
  };
  const verdictFor = (on: Condition, outcome: Outcome): Verdict => {
    if (MATCHED[on].includes(outcome)) return 'fire';
    const isFailure = outcome === 'failed' || outcome === 'error';
    return isFailure && ['created', 'changed', 'ok', 'success'].includes(on) ? 'block' : 'quiet';
  };
  const cases = CONDITIONS.flatMap((on) => OUTCOMES.map((outcome) => [on, outcome, verdictFor(on, outcome)] as const));

  test.each(cases)('%s after %s: %s', (on, outcome, verdict) => {
    expect(verdictOf(group([ended(outcome)], on))).toEqual({ aggregate: outcome, verdict });
  });

  const others: [string, Record<'success' | 'failure' | 'any', Verdict>][] = [
    ['blocked', { success: 'block', failure: 'quiet', any: 'quiet' }],
    ['noop', { success: 'quiet', failure: 'quiet', any: 'quiet' }],
    ['skipped', { success: 'block', failure: 'block', any: 'block' }],
  ];
  test.each(others)('after an emitter that was %s', (status, verdicts) => {
    for (const [on, verdict] of Object.entries(verdicts)) {
      expect([on, verdictOf(group([status], on as Condition)).verdict]).toEqual([on, verdict]);
    }
  });

  test.each(['pending', 'in_progress', 'error_retry'])('is open while its emitter is %s', (status) => {
    expect(verdictOf(group([status], 'any'))).toEqual({ aggregate: null, verdict: null });
    expect(verdictOf(group(['success:ok', status], 'any'))).toEqual({ aggregate: null, verdict: null });
  });
});

describe('two occurrences of an action count as one', () => {
  test.each([
    [['success:changed', 'success:ok'], 'changed'],
    [['success:ok', 'success:created'], 'created'],
    [['success:ok', 'noop'], 'ok'],
    [['noop', 'noop'], 'none'],
    [['noop', 'success:ok'], 'ok'],
    [['error:failed', 'success:ok'], 'ok'],
    [['error:failed', 'noop'], 'failed'],
    [['success:changed', 'error:error'], 'error'],
    [['success:changed', 'blocked'], 'blocked'],
    [['error:failed', 'blocked'], 'failed'],
    [['error:failed', 'skipped'], 'skipped'],
    [['skipped', 'success:ok'], 'skipped'],
    [['noop:changed', 'noop'], 'changed'],
  ])('%j is %s', (occurrences, aggregate) => {
    const emitters = occurrences.map((text, index) => emitter(text, index as 0 | 1));
    expect(aggregateOf(emitters)).toBe(aggregate);
    expect(aggregateOf([...emitters].reverse())).toBe(aggregate);
  });
});

describe('a node', () => {
  const first = (text: string): EdgeGroup => ({ type: 'sequence', on: null, from: [emitter(text)] });

  test.each([
    ['staged', [], 'pending', true],
    ['staged', [group(['success:ok'], 'changed')], 'pending', true],
    ['control', [], 'pending', true],
    ['staged', [group(['error:failed'], 'success')], 'blocked', true],
    ['staged', [group(['pending'], 'success')], 'pending', false],
    ['reaction', [group(['success:changed'], 'changed')], 'pending', true],
    ['reaction', [group(['success:ok'], 'changed')], 'noop', true],
    ['reaction', [group(['success:ok'], 'success', 'depends_on')], 'noop', true],
    ['reaction', [group(['success:ok'], 'changed'), group(['success:changed'], 'changed')], 'pending', true],
    ['reaction', [group(['success:changed'], 'changed'), group(['error:failed'], 'changed')], 'blocked', true],
    ['reaction', [group(['success:changed'], 'changed'), group(['in_progress'], 'any')], 'pending', false],
    ['repeat', [first('success:changed'), group(['success:ok'], 'success', 'depends_on')], 'pending', true],
    ['repeat', [first('success:changed'), group(['success:ok'], 'changed', 'depends_on')], 'noop', true],
    ['repeat', [first('error:failed'), group(['success:ok'], 'success')], 'pending', true],
    ['repeat', [first('noop'), group(['success:ok'], 'success')], 'pending', true],
    ['repeat', [first('blocked'), group(['success:ok'], 'success')], 'blocked', true],
    ['repeat', [first('skipped'), group(['success:ok'], 'success')], 'blocked', true],
  ] as const)('of origin %s with %j: %s', (origin, groups, status, isDecided) => {
    expect(decide(origin, groups)).toMatchObject({ status, isDecided });
  });

  test('says what triggered it and what blocks it', () => {
    const named = (node: string, text: string, on: Condition): EdgeGroup => ({
      type: 'react_on',
      on,
      from: [{ ...emitter(text), node }],
    });
    const groups = [
      named('b.run', 'success:created', 'changed'),
      named('a.run', 'success:ok', 'ok'),
      named('c.run', 'success:ok', 'changed'),
      named('e.run', 'blocked', 'ok'),
      named('d.run', 'error:error', 'success'),
      named('d.run', 'error:error', 'changed'),
    ];
    expect(decide('reaction', groups)).toMatchObject({
      status: 'blocked',
      triggered_by: [
        { node: 'a.run', outcome: 'ok' },
        { node: 'b.run', outcome: 'created' },
      ],
      blocked_by: ['d.run', 'e.run'],
    });
  });
});

describe('a plan', () => {
  const node = (base: string, occurrence: 0 | 1, text: string) => ({
    ...{ base, id: `${base}#${occurrence}` },
    ...{ origin: occurrence === 1 ? ('repeat' as const) : ('staged' as const) },
    ...emitter(text, occurrence),
  });

  test.each([
    [['success:ok', 'noop'], ['success:changed', 'success:ok'], 'succeeded', [], []],
    [['error:failed', 'success:ok'], ['noop', 'noop'], 'succeeded', ['a.run'], []],
    [['error:failed', 'success:changed'], ['noop', 'noop'], 'succeeded', ['a.run'], ['a.run#1']],
    [['error:failed', 'blocked'], ['success:ok', 'noop'], 'failed', [], []],
    [['error:failed', 'blocked'], ['skipped', 'skipped'], 'stopped', [], []],
    [['success:ok', 'success:created'], ['blocked', 'blocked'], 'failed', [], ['a.run#1']],
  ] as const)('with %j and %j: %s', ([a0, a1], [b0, b1], result, recovered, unsettled) => {
    const nodes = [node('a.run', 0, a0), node('a.run', 1, a1), node('b.run', 0, b0), node('b.run', 1, b1)];
    expect(planEnd(nodes)).toEqual({ result, recovered, unsettled });
  });

  test('without nodes has succeeded', () => {
    expect(planEnd([])).toEqual({ result: 'succeeded', recovered: [], unsettled: [] });
  });
});

describe('what may start', () => {
  const waiting = (id: string, more: Partial<Waiting> = {}): Waiting => ({
    ...{ id, resource: id, target: null, type: null, weight: 0 },
    ...more,
  });
  const started = (nodes: Waiting[], running: Waiting[] = [], limits = {}) =>
    admit([...nodes].sort(byWeight), running, { items: 100, types: {}, ...limits }).map(({ id }) => id);

  test('the heaviest first, then by id; only one on each target', () => {
    const nodes = [waiting('s1', { target: '1' }), waiting('s2', { target: '1', weight: 1 })];
    expect(started(nodes)).toEqual(['s2']);
    expect(started([waiting('b'), waiting('a'), waiting('c', { weight: 3 })])).toEqual(['c', 'a', 'b']);
  });

  test('no second action of a resource, in progress or just admitted', () => {
    const nodes = [waiting('a.reload', { resource: 'a' }), waiting('a.run', { resource: 'a' })];
    expect(started(nodes)).toEqual(['a.reload']);
    expect(started(nodes, [waiting('a.x', { resource: 'a' })])).toEqual([]);
  });

  test('as many of a definition as its limit allows, others pass by', () => {
    const nodes = ['a', 'b', 'c', 'd'].map((id) => waiting(id, { type: id === 'd' ? 'other' : 'db' }));
    expect(started(nodes, [], { types: { db: 2 } })).toEqual(['a', 'b', 'd']);
    expect(started(nodes, [waiting('z', { type: 'db' })], { types: { db: 2 } })).toEqual(['a', 'd']);
  });

  test('as many in progress as the plan allows', () => {
    const nodes = ['a', 'b', 'c'].map((id) => waiting(id));
    expect(started(nodes, [waiting('z')], { items: 3 })).toEqual(['a', 'b']);
  });

  test('actions without a target do not exclude one another', () => {
    expect(started([waiting('a'), waiting('b')])).toEqual(['a', 'b']);
  });
});
