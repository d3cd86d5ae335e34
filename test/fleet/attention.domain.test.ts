import { describe, expect, test } from '@jest/globals';
import type { FailureGroup } from '../../domain/components/failure-group.ts';
import { failureSignature } from '../../domain/components/failure-signature.ts';
import { attentionItems, firstItems, type Trouble } from '../../domain/fleet/attention.ts';

describe('the signature of a failure', () => {
  test.each([
    ['Install: rc 100: node013 has no slurmd', 'node013', 'Install: rc N: HOST has no slurmd'],
    ['took 12.5 s at 2026-11-27T10:00:00Z', 'n1', 'took N.N s at TIME'],
    ['no /tmp/ansible-abc12/x.py', 'n1', 'no PATH'],
    ['no /root/.ansible/tmp/ansible-tmp-17/AnsiballZ.py', 'n1', 'no PATH'],
    ['id 9f86d081884c7d65 at 0xdeadbeef', 'n1', 'id HEX at HEX'],
    ['the facade is defaced', 'n1', 'the facade is defaced'],
    ['\n  first \nsecond', '', 'first'],
    ['', 'n1', ''],
  ])('of %j', (message, host, signature) => {
    expect(failureSignature(message, host)).toBe(signature);
  });
});

const at = (minute: number) => new Date(Date.UTC(2026, 10, 27, 10, minute));
const group = (message: string | null, host: string, minute: number, count = 1): FailureGroup => ({
  ...{ message, count, host, since: at(minute), latest: at(minute + 1) },
  session: { id: `id-${minute}`, name: `s${minute}` },
});
const NOTHING: Trouble = {
  ...{ failures: [], held: [], rollouts: [], schedules: [], backoffs: [], waiting: null, drift: null },
  ...{ workers: null, disk: null, lags: { events: 29, outbox: 59 }, isBatcherLate: false },
};
const itemsOf = (trouble: Partial<Trouble>) =>
  attentionItems({ ...NOTHING, ...trouble }, (signature) => `<${signature}>`);

describe('what needs attention', () => {
  test('is nothing where nothing is wrong', () => {
    expect(itemsOf({})).toEqual([]);
  });

  test('joins failures that differ in hosts and numbers alone, and leads to the newest', () => {
    const failures = [group('n1: rc 100\nmore', 'n1', 5, 2), group('n2: rc 7', 'n2', 9), group(null, 'n3', 1)];
    expect(itemsOf({ failures })).toMatchObject([
      {
        kind: 'failed_components',
        what: 'failed hosts',
        count: 3,
        since: at(5).toISOString(),
        reason: 'n2: rc 7',
        failure: '<HOST: rc N>',
        fix: { command: './muster session retry s9 --hosts failed' },
        link: { page: 'sessions', name: 's9', id: 'id-9' },
      },
      { count: 1, reason: 'nothing is kept of why', failure: '<>' },
    ]);
  });

  test('of which no session is left leads to the components', () => {
    const [item] = itemsOf({ failures: [{ ...group('x', 'n1', 1), session: null }] });
    expect(item).toMatchObject({ link: { page: 'components' }, fix: { action: 'reset their errors' } });
  });

  test('has the worst first', () => {
    const items = itemsOf({
      failures: [group('few', 'n1', 1), group('many', 'n1', 2, 9)],
      held: [{ id: 'i', name: 'h', message: 'held until 10:29:52Z', since: at(3) }],
      rollouts: [{ configuration: 'web', reason: 'too many failed', since: at(3) }],
      backoffs: [{ key: 'web', until: at(30) }],
      schedules: [{ name: 'nightly', error: 'no such configuration\nmore', since: at(3) }],
      waiting: { id: 'w', name: 'late', message: 'waits for a slot', since: at(3), count: 2 },
      drift: { count: 3, since: at(1) },
      workers: 'no worker has asked for work',
      disk: { path: '/data', free: 1024 ** 3 },
      lags: { events: 30, outbox: 60 },
      isBatcherLate: true,
    });
    expect(items.map(({ kind, reason }) => [kind, reason])).toEqual([
      ['failed_components', 'many'],
      ['failed_components', 'few'],
      ['held_session', 'held until 10:29:52Z'],
      ['stopped_rollout', 'too many failed'],
      ['waiting_session', 'waits for a slot'],
      ['backoff', expect.stringContaining('2026-11-27T10:30:00.000Z')],
      ['failing_schedule', 'its last run failed: no such configuration'],
      ['drift', 'a check found tasks that would change them'],
      ['workers_away', 'no worker has asked for work'],
      ['low_disk', '1.0 GiB are free at /data'],
      ['lag', 'the newest event of a run was stored 30 s late'],
      ['lag', 'a start or cancel waits for Temporal for 60 s'],
      ['lag', 'no pass came when one was due'],
    ]);
  });

  test('of Muster itself stays where there is more than an answer takes', () => {
    const held = Array.from({ length: 150 }, (_, index) => ({
      id: 'i',
      name: `h${index}`,
      message: 'held',
      since: at(3),
    }));
    const first = firstItems(itemsOf({ held, workers: 'none', isBatcherLate: true }));
    expect([first.length, first.slice(-3).map(({ kind }) => kind)]).toEqual([
      100,
      ['held_session', 'workers_away', 'lag'],
    ]);
  });
});
