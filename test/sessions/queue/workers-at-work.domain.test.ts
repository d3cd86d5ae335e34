import { expect, test } from '@jest/globals';
import { workersAtWork } from '../../../domain/sessions/workers-at-work.ts';

const NOW = new Date('2026-11-21T10:00:00.000Z');
const seen = (identity: string, secondsAgo: number) => ({
  identity,
  askedAt: new Date(NOW.getTime() - secondsAgo * 1_000),
});

test.each([
  ['one', [seen('a', 3)], 1],
  ['two', [seen('a', 59), seen('b', 0)], 2],
  ['one that the engine names twice', [seen('a', 3), seen('a', 40)], 1],
  ['one beside one that ended', [seen('a', 200), seen('b', 10)], 1],
  ['one whose clock is ahead', [seen('a', -30)], 1],
])('%s', (_, pollers, count) => {
  expect(workersAtWork(pollers, NOW)).toEqual({ ok: true, reason: null, count });
});

test.each([
  ['nobody', [], 'no worker has asked for work: sessions wait until one does'],
  [
    'only such as ended',
    [seen('a', 290), seen('b', 120)],
    'no worker has asked for work since 2026-11-21T09:58:00.000Z: sessions wait until one does',
  ],
])('%s', (_, pollers, reason) => {
  expect(workersAtWork(pollers, NOW)).toEqual({ ok: false, reason, count: 0 });
});
