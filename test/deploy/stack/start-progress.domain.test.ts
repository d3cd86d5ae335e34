import { expect, test } from '@jest/globals';
import type { ComponentState, StackState } from '../../../deploy/stack/stack-state.ts';
import { startProgress } from '../../../deploy/stack/start-progress.ts';

const BEGIN = Date.parse('2026-11-21T10:00:00Z');

/** What is said when the parts are as told at the seconds after the begin of the start. */
function said(moments: [seconds: number, parts: Record<string, Partial<ComponentState>>][]): string[] {
  const lines: string[] = [];
  let now = BEGIN;
  const show = startProgress(
    '/data',
    (line) => lines.push(line),
    () => now,
  );
  const started_at = new Date(BEGIN).toISOString();
  const part = { reason: null, process: null, address: null, version: null, restarts: 0, started_at, last_exit: null };
  for (const [seconds, parts] of moments) {
    now = BEGIN + seconds * 1000;
    const components = Object.fromEntries(Object.entries(parts).map(([name, given]) => [name, { ...part, ...given }]));
    show({ state: 'starting', started_at, components } as StackState);
  }
  return lines;
}

const starting = (reason: string) => ({ api: { state: 'starting' as const, reason } });

test('a part that comes up, or is ill, is told once', () => {
  const up = { postgres: { state: 'healthy' as const, version: '18.4', address: '127.0.0.1:8101' } };
  const ill = { postgres: { state: 'unhealthy' as const, reason: 'no answer' } };
  expect(
    said([
      [1, up],
      [2, up],
      [3, ill],
      [4, ill],
      [5, up],
    ]),
  ).toEqual(['postgres 18.4 on 127.0.0.1:8101 is up (1.0 s)', 'postgres: no answer', 'postgres is healthy again']);
});

test('a part that is not up after 5 s says what it waits for, once a reason and at most every 5 s', () => {
  const [one, two, three] = ['no database\n at db:5432', 'no engine', 'no key'].map(starting);
  const moments = [1, 4, 6, 7].map((at) => [at, one] as [number, typeof one]);
  expect(
    said([
      ...moments,
      [8, two],
      [9, three],
      [11, three],
      [30, three],
      [40, { api: { state: 'healthy' } }],
    ] as Parameters<typeof said>[0]),
  ).toEqual(['api is not up yet: no database at db:5432', 'api is not up yet: no key', 'api is up (40.0 s)']);
});

test('of a part that gives no reason the log is named, later', () => {
  const worker = { worker: { state: 'starting' as const, reason: 'starting' } };
  expect(
    said([
      [6, worker],
      [14, worker],
    ]),
  ).toEqual([]);
  expect(
    said([
      [6, worker],
      [16, worker],
      [60, worker],
    ]),
  ).toEqual(['worker is not up yet: its log says what it waits for: /data/logs/worker.log']);
});

test('parts of others, and those that have not begun, are not waited for aloud', () => {
  const parts = {
    postgres: { state: 'external' as const },
    api: { state: 'waiting' as const, reason: 'not started yet', started_at: null },
  };
  expect(said([[60, parts]])).toEqual([]);
});
