/** How a run ended, by events as ansible-runner writes them. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { completionTime } from '../../../domain/operator/completion-time.ts';
import { readConditions, setCondition } from '../../../domain/operator/conditions.ts';
import { hostCounters, outcomeOf } from '../../../domain/operator/outcome.ts';
import type { RunnerEvent } from '../../../domain/operator/runner-events.ts';
import { markFailed, markSucceeded } from '../../../domain/operator/status.ts';
import { failed, requeue, stats, T1 } from '../reconcile/reconcile.ts';

const on = (host: string, msg: string, event = 'runner_on_failed'): RunnerEvent => ({
  event,
  event_data: { host, res: { msg } },
});
const end = (exitCode: number, lastLines: string[] | null = []) => ({ exitCode, lastLines });

describe('the table of real runs', () => {
  const local = (counts: Record<string, number>) =>
    stats(Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, { localhost: count }])));
  test.each<[string, RunnerEvent[], number, string[]]>([
    ['all ok', [local({ ok: 3 })], 0, []],
    ['task fails', [on('localhost', 'boom'), local({ failures: 1 })], 2, ['boom']],
    [
      'loop with one failing item',
      [
        on('localhost', 'item', 'runner_item_on_failed'),
        on('localhost', 'One or more items failed'),
        local({ failures: 1 }),
      ],
      2,
      ['One or more items failed'],
    ],
    ['ignored', [failed('x', { ignore_errors: true }), local({ ok: 1, ignored: 1 })], 0, []],
    ['ignore_errors that is null', [failed('x', { ignore_errors: null }), local({ failures: 1 })], 2, ['x']],
    ['rescued', [on('localhost', 'x'), local({ ok: 1, rescued: 1 })], 0, []],
    ['no_log', [failed(), local({ failures: 1 })], 2, ['unknown playbook failure']],
    ['undefined variable', [on('localhost', 'a\nb'), local({ failures: 1 })], 2, ['a\nb']],
    ['unreachable', [on('web1', 'away', 'runner_on_unreachable'), stats({ dark: { web1: 1 } })], 4, ['web1: away']],
    ['no host matches', [stats({})], 0, []],
    [
      'rescued, then failed',
      [on('localhost', 'one'), on('localhost', 'two'), local({ rescued: 1, failures: 1 })],
      2,
      ['two'],
    ],
    [
      'a rescue on one host hides no failure of another',
      [on('a', 'x'), on('b', 'y'), stats({ rescued: { a: 1 }, failures: { b: 1 } })],
      2,
      ['y'],
    ],
    ['the same message of two hosts', [on('a', 'x'), on('b', 'x'), stats({ failures: { a: 1, b: 1 } })], 2, ['x']],
    ['failures without an event', [local({ failures: 1 })], 2, ['unknown playbook failure']],
    ['an exit status without a failure', [local({ ok: 1 })], 254, ['ansible-runner exited with 254']],
    ['failures and exit status 0', [on('localhost', 'x'), local({ failures: 1 })], 0, ['x']],
    ['ignored unreachable', [on('a', 'away', 'runner_on_unreachable'), stats({ ok: { a: 1 } })], 0, []],
    ['the last stats event counts', [local({ failures: 1 }), local({ ok: 1 })], 0, []],
  ])('%s', (_, events, exitCode, messages) => {
    const { outcome, messages: told } = outcomeOf(events, end(exitCode));
    expect([outcome, told]).toEqual([messages.length === 0 ? 'ok' : 'failed', messages]);
  });

  test.each<[string, string[] | null, string]>([
    ['no file of its output', null, 'Failed to get ansible-runner stdout'],
    ['no text', [' ', '\u001b[0m'], 'ansible-runner exited with 4 before the playbook finished'],
    ['text', ['\u001b[1;31mERROR! a\u001b[0m', '', 'b '], 'ERROR! a\nb'],
  ])('without a stats event, %s', (_, lastLines, message) => {
    expect(outcomeOf([on('localhost', 'x')], end(4, lastLines))).toEqual({
      outcome: 'failed',
      messages: [message],
      counters: { ok: 0, changed: 0, skipped: 0, failures: 0, unreachable: 0, rescued: 0, ignored: 0 },
      completion: null,
      requeue: null,
    });
  });

  test('the last 20 lines that are not empty', () => {
    const lines = Array.from({ length: 30 }, (_, index) => [`line ${index}`, '']).flat();
    const [message = ''] = outcomeOf([], end(1, lines)).messages;
    expect(message.split('\n')).toEqual(Array.from({ length: 20 }, (_, index) => `line ${index + 10}`));
  });
});

describe('the requeue module', () => {
  const by = (task_action: string, more: object = {}, event = 'runner_on_ok'): RunnerEvent => ({
    event,
    event_data: { task_action, res: { period: '7s' }, ...more },
  });
  test.each<[string, RunnerEvent, number | null]>([
    ['full name', by('operator_sdk.util.requeue_after'), 7],
    ['short name', by('requeue_after'), 7],
    ['resolved name', by('later', { resolved_action: 'operator_sdk.util.requeue_after' }), 7],
    ['a failed task of it', by('operator_sdk.util.requeue_after', {}, 'runner_on_failed'), null],
    ['without a result', by('requeue_after', { res: 'x' }), null],
    ['another module', by('debug'), null],
  ])('%s', (_, event, seconds) => expect(outcomeOf([event, stats({})], end(0)).requeue).toBe(seconds));

  test('the last wish counts', () => {
    expect(outcomeOf([requeue('1m'), requeue('2m'), stats({})], end(0)).requeue).toBe(120);
    expect(outcomeOf([requeue('x'), requeue('2m'), stats({})], end(0)).outcome).toBe('ok');
  });

  test('a period that is no text fails the run', () => {
    const event = by('requeue_after', { res: { period: 5 } });
    expect(outcomeOf([event, stats({})], end(0))).toMatchObject({ outcome: 'failed', requeue: null });
  });
});

describe('what a playbook may do to the status', () => {
  test('messages take at most 32 KiB, whole characters', () => {
    const texts = ['ä'.repeat(20_000), 'b'.repeat(40_000), 'c'];
    const events = [...texts.map((text) => on('a', text)), stats({ failures: { a: 1 } })];
    const text = outcomeOf(events, end(2)).messages.join('\n');
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(32 * 1024);
    expect(text.endsWith('ä... (truncated)')).toBe(true);
    expect(outcomeOf([on('a', 'x'.repeat(32_000)), stats({ failures: { a: 1 } })], end(2)).messages[0]).toHaveLength(
      32_000,
    );
  });

  test('events of any form do no harm', () => {
    const names = fc.constantFrom('runner_on_failed', 'runner_on_ok', 'runner_on_unreachable', 'playbook_on_stats');
    const data = fc.oneof(
      fc.jsonValue(),
      fc.dictionary(fc.constantFrom('res', 'host', 'failures', 'dark', 'ok', 'rescued', 'task_action'), fc.jsonValue()),
    );
    const event = fc.record({ event: names, event_data: data, created: fc.jsonValue() });
    fc.assert(
      fc.property(fc.array(event), fc.nat(255), (events, exitCode) => {
        const ended = outcomeOf(events, end(exitCode));
        expect(ended.outcome === 'ok').toBe(ended.messages.length === 0);
        if (exitCode !== 0) expect(ended.outcome).toBe('failed');
        for (const count of Object.values(ended.counters)) expect(Number.isInteger(count) && count >= 0).toBe(true);
      }),
    );
  });

  test('a status of any form becomes one with at most one condition of each type', () => {
    const condition = fc.record(
      {
        type: fc.constantFrom('Running', 'Successful', 'Failure', 'Ready', 5),
        status: fc.jsonValue(),
        lastTransitionTime: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    const status = fc.oneof(
      fc.jsonValue(),
      fc.record({ conditions: fc.array(fc.oneof(condition, fc.jsonValue())), phase: fc.string() }),
    );
    const { counters } = outcomeOf([], end(0));
    fc.assert(
      fc.property(status, fc.boolean(), (before, good) => {
        const written = good
          ? markSucceeded(before, counters, { now: T1 })
          : markFailed(before, ['x'], counters, { now: T1 });
        const types = (written.conditions as { type: string }[]).map(({ type }) => type);
        for (const type of ['Successful', 'Failure']) expect(types.filter((other) => other === type)).toHaveLength(1);
        if (typeof before === 'object' && before !== null && 'phase' in before)
          expect(written.phase).toEqual(before.phase);
        expect(markSucceeded(JSON.parse(JSON.stringify(written)), counters, { now: T1 })).toHaveProperty('conditions');
      }),
    );
  });

  test('conditions as they are read', () => {
    const now = '2026-01-01T00:00:01Z';
    const result = { ok: 1 };
    expect(
      readConditions(
        [
          {},
          {
            type: 'Failure',
            status: 'False',
            lastTransitionTime: '2025-05-05T05:05:05.5+02:00',
            reason: 1,
            ansibleResult: result,
          },
          'x',
          [1],
          null,
        ],
        T1,
      ),
    ).toEqual([
      { type: 'Running', status: 'True', lastTransitionTime: now, reason: '', message: '' },
      {
        type: 'Failure',
        status: 'False',
        lastTransitionTime: '2025-05-05T03:05:05Z',
        reason: '',
        message: '',
        ansibleResult: result,
      },
    ]);
    expect(readConditions('x', T1)).toEqual([]);
  });

  test('Failure is written anew, the others not where status and reason are as before', () => {
    const old = { status: 'False', reason: 'r', message: 'old', lastTransitionTime: 'then' };
    const set = { ...old, message: 'new', lastTransitionTime: 'now' };
    expect(setCondition([{ type: 'Running', ...old }], { type: 'Running', ...set })).toEqual([
      { type: 'Running', ...old },
    ]);
    expect(setCondition([{ type: 'Failure', ...old }], { type: 'Failure', ...set })).toEqual([
      { type: 'Failure', ...old, message: 'new' },
    ]);
  });

  test('the generation that a run read, where the entry wants it', () => {
    const { counters } = outcomeOf([], end(0));
    const writing = { now: T1, observedGeneration: 7 };
    expect(markSucceeded({}, counters, writing).observedGeneration).toBe(7);
    expect(markFailed({}, [], counters, writing).observedGeneration).toBe(7);
  });
});

test('counters of each host', () => {
  const counted = hostCounters(stats({ ok: { a: 2, b: 1 }, dark: { b: 1 }, failures: { c: 1.5 } }));
  expect([...counted.keys()]).toEqual(['a', 'b']);
  expect(counted.get('b')).toMatchObject({ ok: 1, unreachable: 1, failures: 0 });
});

test.each([
  ['2026-01-02T03:04:05.678901+00:00', '2026-01-02T03:04:05.678901+00:00'],
  ['2026-01-02T03:04:05.678900+00:00', '2026-01-02T03:04:05.6789+00:00'],
  ['2026-01-02T03:04:05.000000+00:00', '2026-01-02T03:04:05+00:00'],
  ['2026-01-02T03:04:05.123456789', '2026-01-02T03:04:05.12345678+00:00'],
  ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05+00:00'],
  ['2026-01-02T01:04:05.5+02:00', '2026-01-01T23:04:05.5+00:00'],
  ['2026-13-02T03:04:05Z', null],
  ['soon', null],
  [5, null],
])('the end at %j is written as %j', (created, text) => expect(completionTime(created)).toBe(text));
