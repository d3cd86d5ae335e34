import { describe, expect, test } from '@jest/globals';
import { diskOf, systemChecks } from '../../domain/service/system-checks.ts';
import type { System } from '../../domain/service/system-schema.ts';
import { bytesText } from '../../domain/text/bytes-text.ts';

const part = { ok: true, reason: null };
const facts = { size: 3 * 1024 ** 3, connections: 90, max_connections: 100, schema: '0063-x' };
const system: Omit<System, 'checks'> = {
  ...{ versions: { muster: '1', cfs: '1' }, database: { ...part, ...facts }, engine: part, setup: part, workers: null },
  ...{ counts: null, plans: null, operators: null, batcher: null, hardware_sync: null, processes: [] },
  stop: { stopped: true, since: '2026-11-21T10:00:00Z', actor: null, reason: 'work', complete: true },
  notices: ['decide'],
  links: { ui: '', docs: '', openapi: '', temporal_ui: null },
  queues: [{ name: 'main', depth: 7, oldest_seconds: 300, pollers: 1 }],
  gauges: { event_lag_seconds: 30, outbox_oldest_seconds: 59.4, outbox_length: 2 },
  disk: diskOf('/data', 1024 ** 3, 100 * 1024 ** 3),
};

describe('checks of the system', () => {
  test('say what is not known or not well, and what mends it', () => {
    const bad = systemChecks(system).filter(({ ok }) => !ok);
    expect(bad.map(({ name, detail }) => `${name}: ${detail}`)).toEqual([
      'connections: 90 of 100 connections',
      'workers: not known',
      'events: the newest event of a run was stored 30 s late',
      'queue main: 7 tasks wait, the first for 300 s',
      ...['sessions: not known', 'batcher: not known', 'plans: not known', 'operators: not known'],
      'disk: 1.0 GiB of 100.0 GiB are free at /data',
      'stop: everything is stopped since 2026-11-21T10:00:00Z: work',
    ]);
    expect(bad.every(({ fix }) => fix !== null && fix !== '')).toBe(true);
  });

  test('say what is well, too', () => {
    const good = systemChecks(system).filter(({ ok }) => ok);
    expect(good.map(({ name, detail, fix }) => [name, detail, fix])).toEqual([
      ['database', '3.0 GiB, schema 0063-x', null],
      ['engine', 'ok', null],
      ['set-up', 'ok', null],
      ['outbox', '2 starts and cancels wait for Temporal, the first for 59 s', null],
      ['notice', 'decide', null],
    ]);
  });

  test.each([
    [1, 100, true],
    [5, 100, false],
    [10, 1_000, false],
    [9, 1_000, true],
    [1, 10, false],
  ])('a disk with %d of %d GiB is low: %s', (free, size, isLow) => {
    expect(diskOf('/', free * 1024 ** 3, size * 1024 ** 3).low).toBe(isLow);
  });

  test('bytes are told in words', () => {
    expect([bytesText(0), bytesText(300 * 1024 ** 2), bytesText(1.5 * 1024 ** 3)]).toEqual([
      '0 MiB',
      '300 MiB',
      '1.5 GiB',
    ]);
  });
});
