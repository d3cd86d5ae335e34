import { describe, expect, test } from '@jest/globals';
import { eventLogOf, type LogLevel, logLevelOf } from '../../../domain/operator/log-lines.ts';

const line = (event: string, more: object = {}, data: object = {}) => ({
  ...{ time: 't', type: 'x', task: 'make it', stdout: 'out', file: '/p.yml:3', ...more },
  runner: { event, event_data: { resolved_action: 'ansible.builtin.copy', ...data } },
});
const debug = { resolved_action: 'ansible.builtin.debug', task_action: 'ansible.builtin.debug' };

test.each<[string, LogLevel | null]>([
  ['Tasks', 'tasks'],
  ['NOTHING', 'nothing'],
  ['everything', 'everything'],
  ['all', null],
  ['', null],
])('%s means %s', (word, level) => {
  expect(logLevelOf(word)).toBe(level);
});

describe('at the level of tasks', () => {
  test.each<[string, ReturnType<typeof line>, string | null, boolean]>([
    ['the start of a task', line('playbook_on_task_start'), '[playbook task start]', true],
    ['the start of a debug', line('playbook_on_task_start', {}, debug), null, false],
    ['a debug that is ok', line('runner_on_ok', {}, debug), '[playbook debug]', true],
    ['another task that is ok', line('runner_on_ok'), null, false],
    ['an item that is ok', line('runner_item_on_ok'), null, true],
    ['a failure', line('runner_on_failed'), '[playbook task failed]', true],
    ['a failure without text', line('runner_on_failed', { stdout: undefined }), '[playbook task failed]', false],
    ['what belongs to no task', line('runner_on_failed', { task: undefined }), null, false],
    ['the recap', line('playbook_on_stats', { task: undefined }), null, true],
  ])('%s', (_, event, message, prints) => {
    const said = eventLogOf(event, 'tasks', false);
    expect([said.record?.message ?? null, said.text !== null]).toEqual([message, prints]);
  });

  test('a failure is an error and says where', () => {
    expect(eventLogOf(line('runner_on_failed'), 'tasks', false).record).toEqual({
      ...{ level: 'error', message: '[playbook task failed]' },
      fields: { task: 'make it', task_path: '/p.yml:3' },
    });
  });

  test('a text stands between two rules; where it is verbose it is raw and alone', () => {
    expect(eventLogOf(line('runner_item_on_ok'), 'tasks', false).text).toMatch(
      /^-+ Ansible Task StdOut -+\nout\n-+\n$/,
    );
    expect(eventLogOf(line('runner_on_failed'), 'tasks', true)).toEqual({ record: null, text: 'out\n' });
  });
});

test('at the level of everything each event is told, at that of nothing none', () => {
  expect(eventLogOf(line('runner_on_start'), 'everything', true).record).toMatchObject({
    ...{ level: 'info', message: 'runner_on_start' },
    fields: { task: 'make it' },
  });
  expect(eventLogOf(line('runner_on_failed'), 'nothing', true)).toEqual({ record: null, text: null });
  expect(eventLogOf({ time: 't', type: 'warning' }, 'everything', false)).toEqual({ record: null, text: null });
});
