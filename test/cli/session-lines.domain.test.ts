import { describe, expect, test } from '@jest/globals';
import { type EventAnswer, eventLine } from '../../cli/follow/event-line.ts';
import { summariseHost } from '../../cli/follow/host-table.ts';
import { liveLine, stepOf } from '../../cli/follow/session-line.ts';
import { sessionDetail, sessionHost, sessionProgress } from '../support/temporal/session-answers.ts';

const { layers } = sessionDetail('s').snapshot;

describe('the step', () => {
  test.each([
    ['before anything is known', {}, 'connecting'],
    [
      'a layer by its place among the selected ones',
      { progress: sessionProgress('s', { layer: 2 }), layers },
      'layer 2/2 app',
    ],
    ['a layer whose name is not known yet', { progress: sessionProgress('s', { layer: 2 }) }, 'layer 3'],
    ['another attempt', { progress: sessionProgress('s', { attempt: 2 }), layers }, 'layer 1/2 base, attempt 2'],
    [
      'another phase',
      { progress: sessionProgress('s', { phase: 'clone', message: 'clones 1 repository' }) },
      'clones 1 repository',
    ],
    [
      'the place in the queue',
      { progress: sessionProgress('s', { phase: 'queued', message: 'waiting for a session slot' }), queuePlace: 3 },
      'place 3 in the queue: waiting for a session slot',
    ],
    [
      'a place that is out of date',
      { progress: sessionProgress('s', { phase: 'inventory', message: 'writes the inventory' }), queuePlace: 3 },
      'writes the inventory',
    ],
  ])('%s', (_name, followed, step) => {
    expect(stepOf(followed)).toBe(step);
  });

  test('the live line has hosts, failed hosts, task and time', () => {
    const line = (over: Parameters<typeof sessionProgress>[1], elapsed: number) =>
      liveLine({ progress: sessionProgress('s', over), layers }, elapsed, 120);
    expect(line({}, 65_000)).toBe('layer 1/2 base  1/3 hosts  task "copy"  01:05');
    const hosts = { seen: 25, done: 13, failed: 1 };
    expect(line({ hosts, task: null }, 3_661_000)).toBe('layer 1/2 base  13/25 hosts  1 failed  1:01:01');
  });

  test('the live line never reaches the edge of the terminal and never steers it', () => {
    const progress = sessionProgress('s', { phase: 'clone', message: `\u001b[2J${'x'.repeat(300)}` });
    const line = liveLine({ progress }, 0, 80);
    expect([...line]).toHaveLength(79);
    expect(line).toMatch(/^\\x1b\[2Jxxx.*…$/);
  });
});

describe('lines for events', () => {
  const event = (over: Partial<EventAnswer>): EventAnswer => ({
    seq: 1,
    time: '2026-11-21T10:00:00.000Z',
    type: 'host_result',
    layer: 0,
    attempt: 1,
    host: 'web1',
    task: 'Write the file',
    result: 'failed',
    ...over,
  });

  test.each([
    ['a failure', event({ message: 'no space' }), 'failed: web1: Write the file: no space'],
    ['a failed item', event({ item: 'etc', message: 'no space' }), 'failed: web1: Write the file (item etc): no space'],
    [
      'an unreachable host',
      event({ result: 'unreachable', message: 'timed out' }),
      'unreachable: web1: Write the file: timed out',
    ],
    [
      'a failure that no_log hides',
      event({ censored: true, message: 'x' }),
      'failed: web1: Write the file: hidden by no_log',
    ],
    ['a command that only wrote to stderr', event({ stderr: 'boom\n' }), 'failed: web1: Write the file: boom'],
    [
      'a failure of a program, by the last useful line of its output',
      event({ message: 'apt-get failed', stderr: 'a\nb', reason: 'rc 100: E: Unable to locate package slurmd' }),
      'failed: web1: Write the file: rc 100: E: Unable to locate package slurmd',
    ],
    ['a failure that is rescued', event({ result: 'rescued', message: 'x' }), undefined],
    [
      'the end of the playbook',
      event({ type: 'error', message: "'x' is undefined (a.yml:6)" }),
      "error: 'x' is undefined (a.yml:6)",
    ],
    ['a warning', event({ type: 'warning', message: 'host x[0] left out' }), 'warning: host x[0] left out'],
    ['a success', event({ result: 'changed' }), undefined],
    ['a failure that is ignored', event({ result: 'ignored' }), undefined],
    ['a task that begins', event({ type: 'task_start', result: undefined }), undefined],
    [
      'hostile text',
      event({ host: 'a\u001b[1A', message: 'x\nsession s succeeded: \u009b2K' }),
      'failed: a\\x1b[1A: Write the file: x\\nsession s succeeded: \\x9b2K',
    ],
  ])('%s', (_name, given, line) => {
    expect(eventLine(given)).toBe(line);
  });

  test('a long message is cut', () => {
    expect(eventLine(event({ message: 'x'.repeat(5000) }))?.length).toBeLessThan(400);
  });
});

test('a host is summed up over its layers', () => {
  const host = sessionHost('web1', 'failed', [
    { ok: 3, changed: 2, skipped: 1 },
    { layer: 2, status: 'failed', ok: 1, failures: 1, unreachable: 1, rescued: 1, ignored: 2 },
  ]);
  expect(summariseHost(host)).toEqual({
    host: 'web1',
    layers: 2,
    ok: 4,
    changed: 2,
    failed: 1,
    unreachable: 1,
    skipped: 1,
    rescued: 1,
    ignored: 2,
    result: 'failed',
  });
});

test.each([
  ['applied', 0, 'in_sync'],
  ['applied', 2, 'drifted'],
  ['failed', 2, 'failed'],
] as const)('of a check, %s with %i changes is %s', (result, changed, shown) => {
  const host = sessionHost('web1', result, [{ changed }]);
  expect(summariseHost(host, { check: true }).result).toBe(shown);
  expect(summariseHost(host).result).toBe(result);
});
