import { describe, expect, test } from '@jest/globals';
import { afterAttempt, isGivenUp, outcomeOfIdle } from '../../../domain/propagation/attempt-end.ts';
import type { ActionDefinition } from '../../../domain/propagation/definition-schema.ts';
import { actionRules, checkActions, executedAction, isIdle } from '../../../domain/propagation/plan-actions.ts';
import { allows, isClosed, type PLAN_COMMANDS, PLAN_STATES } from '../../../domain/propagation/plan-states.ts';
import { type RetryRules, restText, retriesAfter, retryAt } from '../../../domain/propagation/retry.ts';
import { settlementOf } from '../../../domain/propagation/settlement.ts';
import { targetOf } from '../../../domain/propagation/target.ts';

const NODE = { made: 1, retry: 1, creates: false, isStopping: false };
const ENDED = { outcome: 'failed', verified: true, endWanted: false } as const;

describe('after an attempt', () => {
  test.each([
    ['a success', { ...ENDED, outcome: 'changed' }, NODE, { status: 'success', outcome: 'changed' }],
    [
      'the first success of a resource',
      { ...ENDED, outcome: 'changed' },
      { ...NODE, creates: true },
      { status: 'success', outcome: 'created' },
    ],
    [
      'a first run that altered nothing',
      { ...ENDED, outcome: 'ok' },
      { ...NODE, creates: true },
      { status: 'success', outcome: 'ok' },
    ],
    ['a failure with attempts left', ENDED, NODE, { status: 'error_retry', outcome: 'failed' }],
    ['a failure without', ENDED, { ...NODE, made: 2 }, { status: 'error', outcome: 'failed' }],
    [
      'a run that may be at work',
      { ...ENDED, outcome: 'error', verified: false },
      NODE,
      { status: 'error', outcome: 'error' },
    ],
    ['an end that was asked for', { ...ENDED, endWanted: true }, NODE, { status: 'error', outcome: 'failed' }],
    ['a stop', ENDED, { ...NODE, isStopping: true }, { status: 'error', outcome: 'failed' }],
  ] as const)('%s', (_what, attempt, node, expected) => expect(afterAttempt(attempt, node)).toEqual(expected));

  test('what executes nothing is changed by its difference alone', () => {
    expect(outcomeOfIdle({ differs: false, creates: true })).toBe('ok');
    expect(outcomeOfIdle({ differs: true, creates: false })).toBe('changed');
    expect(outcomeOfIdle({ differs: true, creates: true })).toBe('created');
  });

  test('an item is settled by what ran', () => {
    expect(
      ['created', 'changed', 'ok', 'failed', 'error', 'none', 'blocked', 'skipped'].map(settlementOf as never),
    ).toEqual(['commit', 'commit', 'commit', 'fail', 'fail', null, null, null]);
  });

  test('a machine may be away for the time limit of its action, or for ten minutes', () => {
    const away = (started: number | null, since: number | null = 60_000) => ({
      started_at: started === null ? null : new Date(started),
      away_since: since === null ? null : new Date(since),
    });
    const at = (times: number[], attempt: ReturnType<typeof away>, timeout: number) =>
      times.map((ms) => isGivenUp(attempt, timeout, new Date(ms)));
    expect(at([10_000_000], away(0, null), 0)).toEqual([false]);
    expect(at([10_000_000], away(0, null), 5)).toEqual([false]);
    expect(at([659_999, 660_000], away(0), 0)).toEqual([false, true]);
    // The clock of the timeout begins with the run, and where there is no run yet with the absence.
    expect(at([99_999, 100_000], away(0), 100)).toEqual([false, true]);
    expect(at([159_999, 160_000], away(null), 100)).toEqual([false, true]);
  });

  test('an action is tried again after each failure, or only where its target was at fault', () => {
    const further = (rules: RetryRules) =>
      (['failed', 'error'] as const).map((outcome) => retriesAfter(rules, outcome));
    expect(further({ retry: 2 })).toEqual([2, 2]);
    expect(further({ retry: 2, retry_on: 'failure' })).toEqual([2, 2]);
    expect(further({ retry: 2, retry_on: 'error' })).toEqual([0, 2]);
  });

  test('a node rests between its attempts for as long as its definition says', () => {
    const at = new Date(10_000);
    expect([{ retry: 1 }, { retry: 1, backoff: 1.5 }].map((rules) => retryAt(rules, at).getTime())).toEqual([
      10_000, 11_500,
    ]);
    expect(restText({ retry: 1 }, at)).toBeNull();
    expect(restText({ retry: 1, backoff: 1.5 }, at)).toBe('is tried again not before 1970-01-01T00:00:11.500Z');
  });
});

const ACTION: ActionDefinition = {
  ...{ file: 'actions/run.sh', repeatable: true, repeat_priority: 0, timelimit: 0, timeout: 0, retry: 0 },
  outcomes: {},
};
const resource = (handler: 'none' | 'shell', ...actions: string[]) => ({
  ...{ name: 'r', handler },
  actions: Object.fromEntries(actions.map((action) => [action, { ...ACTION, file: `actions/${action}.sh` }])),
});

describe('what is executed', () => {
  const r = resource('shell', 'run', 'reload');
  test('is the action, run for an update that is not there, and nothing for a removal that is not', () => {
    expect(['run', 'update', 'remove', 'reload', 'fly'].map((action) => executedAction(r, action))).toEqual([
      'run',
      'run',
      null,
      'reload',
      undefined,
    ]);
    expect(executedAction(r, 'toString')).toBeUndefined();
    expect(actionRules(r, 'update')?.file).toBe('actions/run.sh');
    expect(actionRules(r, 'remove')).toBeUndefined();
  });

  test('is nothing without a handler or a file', () => {
    expect(isIdle(r, 'run')).toBe(false);
    expect(isIdle(r, null)).toBe(true);
    expect(isIdle(resource('none', 'run'), 'run')).toBe(true);
  });

  test('is refused with all names where it is not defined, and by handler where it cannot be executed', () => {
    const nodes = ['fly', 'run', 'swim'].map((action) => ({ id: `r.${action}`, action, resource: r }));
    expect(() => checkActions(nodes, 'local')).toThrow(
      expect.objectContaining({
        code: 'action_not_defined',
        errors: [expect.objectContaining({ names: ['r.fly'] }), expect.objectContaining({ names: ['r.swim'] })],
      }),
    );
    const fine = [{ id: 'r.run', action: 'run', resource: r }];
    expect(() => checkActions(fine, 'local')).not.toThrow();
    expect(() => checkActions(fine, 'kubernetes')).toThrow(expect.objectContaining({ code: 'not_supported' }));
    expect(() =>
      checkActions([{ ...fine[0], resource: resource('none', 'run') } as never], 'kubernetes'),
    ).not.toThrow();
  });
});

describe('a target', () => {
  const places = {
    nodes: new Map([
      ['n1', { ip: '10.0.0.1' }],
      ['n2', { ip: '' }],
    ]),
    transports: new Map([['t1', { port: 2222 }]]),
  };
  test.each([
    [{ location_id: '' }, null],
    [{}, null],
    [{ location_id: 'localhost' }, 'localhost'],
    [{ location_id: 'component:x1' }, 'component:x1'],
    [{ location_id: 'n1' }, '10.0.0.1:22'],
    [{ location_id: 'n1', transports_id: 't1' }, '10.0.0.1:2222'],
    [{ location_id: 'n1', transports_id: 'gone' }, '10.0.0.1:22'],
    [{ location_id: 'n2' }, undefined],
    [{ location_id: 'gone' }, undefined],
  ])('of %j is %s', (inputs, target) => expect(targetOf(inputs, places)).toBe(target));
});

describe('commands', () => {
  const answers = (command: (typeof PLAN_COMMANDS)[number] | 'delete') =>
    PLAN_STATES.map((state) => {
      try {
        return allows(command, { id: 'p', state }) ? 'does' : 'is done';
      } catch {
        return 'refused';
      }
    });

  // Built, running, paused, succeeded, failed, stopped, abandoned.
  test.each([
    ['run', 'does, is done, is done, refused, refused, refused, refused'],
    ['stop', 'refused, does, does, refused, refused, refused, refused'],
    ['abort', 'refused, does, does, refused, refused, refused, refused'],
    ['pause', 'refused, does, is done, refused, refused, refused, refused'],
    ['unpause', 'refused, is done, does, refused, refused, refused, refused'],
    ['resume', 'refused, refused, refused, does, does, does, refused'],
    ['retry', 'refused, refused, refused, refused, does, does, refused'],
    ['abandon', 'does, refused, refused, does, does, does, is done'],
    ['delete', 'does, refused, refused, does, does, does, does'],
  ] as const)('%s', (command, expected) => expect(answers(command).join(', ')).toBe(expected));

  test('an open plan has a driver', () => {
    expect(PLAN_STATES.filter((state) => !isClosed(state))).toEqual(['running', 'paused']);
  });
});
