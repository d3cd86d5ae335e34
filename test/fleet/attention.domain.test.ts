import { describe, expect, test } from '@jest/globals';
import type { FailureGroup } from '../../domain/components/failure-group.ts';
import { attentionItems, firstItems, type Trouble } from '../../domain/fleet/attention.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 10, 27, 10, minute));
const group = (message: string | null, host: string, minute: number, count = 1): FailureGroup => ({
  ...{ failure: `<${host}>`, message, count, host, since: at(minute), latest: at(minute + 1) },
  session: { id: `id-${minute}`, name: `s${minute}` },
});
const NOTHING: Trouble = {
  ...{ failures: [], held: [], rollouts: [], schedules: [], backoffs: [], waiting: null, drift: null },
  ...{ workers: null, disk: null, lags: { events: 29, outbox: 59 }, isBatcherLate: false },
};
const itemsOf = (trouble: Partial<Trouble>) => attentionItems({ ...NOTHING, ...trouble });

describe('what needs attention', () => {
  test('is nothing where nothing is wrong', () => {
    expect(itemsOf({})).toEqual([]);
  });

  test('has failures with the first line of the newest, and leads to its session', () => {
    const failures = [group('\nn2: rc 7\nmore', 'n2', 9, 3), group(null, 'n3', 1)];
    expect(itemsOf({ failures })).toMatchObject([
      {
        kind: 'failed_components',
        what: 'failed hosts',
        count: 3,
        since: at(9).toISOString(),
        reason: 'n2: rc 7',
        failure: '<n2>',
        fix: { command: './muster session retry s9 --hosts failed' },
        link: { page: 'sessions', name: 's9', id: 'id-9' },
      },
      { count: 1, reason: 'nothing is kept of why', failure: '<n3>' },
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
