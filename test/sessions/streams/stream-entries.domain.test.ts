import { describe, expect, test } from '@jest/globals';
import { countEvent, emptySummary, type SummaryEvent } from '../../../domain/runs/event-summary.ts';
import { hostLogText } from '../../../domain/runs/host-log.ts';

let seq = 0;
const event = (type: string, data: Record<string, unknown> = {}, over: Partial<SummaryEvent> = {}): SummaryEvent => ({
  seq: ++seq,
  layer: 0,
  attempt: 1,
  type,
  host: null,
  data,
  ...over,
});
const result = (host: string, task: string, word: string, over: Partial<SummaryEvent> = {}) =>
  event('host_result', { task, result: word }, { host, ...over });

function summaryOf(events: SummaryEvent[]) {
  const summary = emptySummary();
  for (const one of events) countEvent(summary, one);
  const { hosts, answered, failed, ...rest } = summary;
  return { ...rest, hosts: [...hosts], answered: [...answered], failed: [...failed] };
}

describe('the summary of events', () => {
  const begin = [event('play_start', { play: 'p' }), event('task_start', { task: 't1' })];

  test('counts words, hosts and who answered the current task', () => {
    const events = [
      ...begin,
      result('a', 't1', 'ok'),
      result('b', 't1', 'failed'),
      event('task_start', { task: 't2' }),
      result('a', 't2', 'changed'),
    ];
    expect(summaryOf(events)).toEqual({
      seq,
      layer: 0,
      attempt: 1,
      play: 'p',
      task: 't2',
      counts: { ok: 1, changed: 1, failed: 1, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 },
      finished: false,
      hosts: ['a', 'b'],
      answered: ['a'],
      failed: ['b'],
    });
  });

  test('a new layer has hosts of its own, the counts and failures go on', () => {
    const events = [...begin, result('a', 't1', 'unreachable'), event('stats'), result('b', 't9', 'ok', { layer: 1 })];
    expect(summaryOf(events)).toMatchObject({
      layer: 1,
      play: null,
      task: null,
      finished: false,
      hosts: ['b'],
      failed: ['a'],
      counts: { unreachable: 1, ok: 1 },
    });
  });

  test('a new attempt forgets the failures', () => {
    const events = [...begin, result('a', 't1', 'failed'), result('a', 't1', 'ok', { attempt: 2 })];
    expect(summaryOf(events)).toMatchObject({ attempt: 2, hosts: ['a'], failed: [] });
  });

  test('warnings of the session, unknown words and results without host change nothing', () => {
    const events = [
      ...begin,
      result('a', 't1', 'ok'),
      event('warning', { message: 'x' }, { layer: null, attempt: null }),
      result('a', 't1', 'exploded'),
      event('host_result', { task: 't1', result: 'ok' }),
      event('host_result', { result: ['ok'] }, { host: 'z' }),
    ];
    expect(summaryOf(events)).toMatchObject({ layer: 0, hosts: ['a'], counts: { ok: 1, failed: 0 } });
  });

  test('final statistics end the layer', () => {
    expect(summaryOf([...begin, result('a', 't1', 'ok'), event('stats')]).finished).toBe(true);
  });
});

describe('the log of a host', () => {
  const time = new Date('2026-11-21T10:00:00.000Z');
  test.each<[string, Record<string, unknown>, string]>([
    ['a result', { task: 'copy', result: 'ok' }, '2026-11-21T10:00:00.000Z layer 2 [copy] ok\n'],
    [
      'a message and output',
      { task: 'run', result: 'failed', message: 'no', stdout: 'a\nb\n', stderr: 'e', rc: 1 },
      '2026-11-21T10:00:00.000Z layer 2 [run] failed: no\n  stdout:\n    a\n    b\n  stderr:\n    e\n',
    ],
    [
      'a loop item and a difference',
      { task: 'run', result: 'changed', item: 'x', diff: '-a\n+b' },
      '2026-11-21T10:00:00.000Z layer 2 [run] (item=x) changed\n  diff:\n    -a\n    +b\n',
    ],
    [
      'a hidden one shows no value',
      { task: 'run', result: 'failed', censored: true, message: 'secret', stdout: 'secret' },
      '2026-11-21T10:00:00.000Z layer 2 [run] failed: (hidden by no_log)\n',
    ],
    ['members of a wrong type', { task: 1, result: {}, stdout: [] }, '2026-11-21T10:00:00.000Z layer 2 [] \n'],
  ])('%s', (_name, data, text) => expect(hostLogText({ time, layer: 1, data })).toBe(text));
});
