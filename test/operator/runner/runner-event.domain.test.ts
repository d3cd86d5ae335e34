/** Events of ansible-runner in the words of the journal. */
import { expect, test } from '@jest/globals';
import { outcomeOf } from '../../../domain/operator/outcome.ts';
import { createMask } from '../../../domain/runs/mask.ts';
import { eventOfRunner } from '../../../domain/runs/runner-event.ts';

const NOW = new Date('2026-01-02T00:00:00Z');
const CREATED = '2026-01-02T03:04:05.678901+00:00';
const read = (file: object, mask = createMask([])) =>
  eventOfRunner(JSON.stringify({ created: CREATED, ...file }), mask, NOW);

test('a result of a task', () => {
  const data = {
    host: 'web1',
    play: 'p',
    task: 't',
    task_action: 'fail',
    resolved_action: 'ansible.builtin.fail',
    task_path: '/a.yml:3',
    res: { msg: 'no', changed: false, big: 'x'.repeat(99) },
  };
  expect(read({ event: 'runner_on_failed', stdout: 'fatal', event_data: data })).toEqual({
    ...{ time: CREATED, type: 'host_result', host: 'web1', play: 'p', task: 't', file: '/a.yml:3' },
    ...{ message: 'no', result: 'failed', changed: false, stdout: 'fatal' },
    runner: {
      event: 'runner_on_failed',
      created: CREATED,
      event_data: { host: 'web1', task_action: 'fail', resolved_action: 'ansible.builtin.fail', res: { msg: 'no' } },
    },
  });
});

test.each([
  ['runner_on_ok', { res: { changed: true } }, 'changed'],
  ['runner_on_ok', { res: {} }, 'ok'],
  ['runner_on_failed', { ignore_errors: true }, 'ignored'],
  ['runner_on_unreachable', {}, 'unreachable'],
  ['runner_on_skipped', {}, 'skipped'],
])('the word of %s with %j', (event, data, word) => {
  expect(read({ event, event_data: data })).toMatchObject({ type: 'host_result', result: word });
});

test('the outcome follows from what is kept', () => {
  const events = [
    { event: 'runner_on_failed', event_data: { host: 'a', ignore_errors: null, res: { msg: 'boom' } } },
    { event: 'runner_on_ok', event_data: { host: 'a', task_action: 'requeue_after', res: { period: '30s' } } },
    { event: 'playbook_on_stats', event_data: { failures: { a: 1 }, ok: { a: 2 }, processed: { a: 1 } } },
  ];
  const kept = events.map((event) => (read(event) as unknown as { runner: { event: string } }).runner);
  const end = { exitCode: 2, lastLines: [] };
  expect(outcomeOf(kept, end)).toEqual(
    outcomeOf(
      events.map((event) => ({ created: CREATED, ...event })),
      end,
    ),
  );
  expect(outcomeOf(kept, end)).toMatchObject({ outcome: 'failed', messages: ['boom'], requeue: 30 });
});

test('statistics are those of the journal', () => {
  const event = { event: 'playbook_on_stats', event_data: { ok: { a: 2 }, dark: { b: 1 }, processed: { a: 1, b: 1 } } };
  const none = { ok: 0, changed: 0, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };
  expect(read(event)).toMatchObject({
    type: 'stats',
    hosts: { a: { ...none, ok: 2 }, b: { ...none, unreachable: 1 } },
  });
});

test('secrets are masked, long texts cut, and what cannot be read is a warning', () => {
  const event = {
    event: 'runner_on_failed',
    stdout: 'says hunter22',
    event_data: { host: 'a', res: { msg: 'pass hunter22' } },
  };
  expect(JSON.stringify(read(event, createMask(['hunter22'])))).not.toContain('hunter22');
  const long = read({
    event: 'runner_on_failed',
    stdout: 'x'.repeat(1e6),
    event_data: { res: { msg: 'y'.repeat(1e6) } },
  });
  expect(JSON.stringify(long).length).toBeLessThan(32 * 1024);
  for (const text of ['', '{', '[]', '{"event": 1}'])
    expect(eventOfRunner(text, String, NOW)).toMatchObject({ type: 'warning' });
});
