/** When the runs of a resource for its dependents are a loop, and how far they are slowed down. */
import { describe, expect, test } from '@jest/globals';
import type { Cause } from '../../../domain/operator/cause.ts';
import { lastManager } from '../../../domain/operator/dependent-change.ts';
import { dependentsFrom, type EndedRun, type Loop, loopAfter } from '../../../domain/operator/loop.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const at = (seconds: number) => new Date(NOW + seconds * 1_000);
const DEPENDENT: Cause = { type: 'dependent', object: 'ConfigMap ns/web', manager: 'meddler' };
const IDLE: EndedRun = { cause: DEPENDENT, outcome: 'ok', changed: 0 };

/** The loop after so many idle runs, one each so many seconds. */
function loopOf(runs: number, everySeconds: number, before: Loop | null = null): Loop | null {
  let loop = before;
  for (let run = 0; run < runs; run += 1) loop = loopAfter(loop, IDLE, at(run * everySeconds));
  return loop;
}

describe('runs for dependents', () => {
  test.each([
    ['ten in ten minutes are none', 10, 1, 0],
    ['eleven are a loop', 11, 1, 1],
    ['each further one doubles the delay', 14, 1, 8],
    ['the delay has a limit', 40, 1, 600],
    ['many, one a minute and less, are none', 200, 61, 0],
    ['eleven within the ten minutes are one', 11, 59, 1],
  ])('%s', (_, runs, every, delaySeconds) => {
    expect(loopOf(runs, every)?.delaySeconds).toBe(delaySeconds);
  });

  test('a loop that is slowed down stays one, though its runs are few by then', () => {
    const loop = loopOf(20, 1);
    expect(loop?.delaySeconds).toBe(512);
    const [next, one] = [loopAfter(loop, IDLE, at(19 + 512)), loopAfter(loop, IDLE, at(19 + 512 + 599))];
    expect([next?.delaySeconds, one?.delaySeconds]).toEqual([600, 600]);
  });

  test('a rest as long as the delay and ten minutes ends it', () => {
    const loop = loopOf(12, 1);
    expect(loop?.delaySeconds).toBe(2);
    expect(loopAfter(loop, IDLE, at(11 + 2 + 599))?.delaySeconds).toBe(4);
    expect(loopAfter(loop, IDLE, at(11 + 2 + 601))).toMatchObject({ delaySeconds: 0, reason: null });
  });

  test('names the dependent and who changes it', () => {
    expect(loopOf(11, 1)?.reason).toBe(
      'ConfigMap ns/web is changed again and again by meddler, and runs change nothing: a run for a dependent waits 1 s',
    );
    const unnamed: EndedRun = { ...IDLE, cause: { type: 'dependent', object: 'ConfigMap ns/web' } };
    expect(loopAfter(loopOf(10, 1), unnamed, at(10))?.reason).toMatch(
      /^ConfigMap ns\/web is changed again and again, and/,
    );
    expect(loopOf(10, 1)?.reason).toBeNull();
  });

  test.each<[string, Partial<EndedRun>]>([
    ['another cause', { cause: { type: 'changed' } }],
    ['the period', { cause: { type: 'timer' } }],
    ['a run that changed something', { changed: 1 }],
    ['a failure', { outcome: 'failed' }],
    ['a resource that is gone', { outcome: 'gone', changed: null }],
  ])('%s begins anew', (_, run) => {
    expect(loopAfter(loopOf(14, 1), { ...IDLE, ...run }, at(14))).toBeNull();
  });

  test.each(['interrupted', 'cancelled'] as const)('a run that was %s says nothing', (outcome) => {
    const before = loopOf(14, 1);
    expect(loopAfter(before, { ...IDLE, outcome, changed: null }, at(14))).toBe(before);
  });

  test('what is on record stays small', () => {
    expect(loopOf(500, 1)?.recent).toHaveLength(11);
  });

  test('the next run for a dependent may begin after the delay', () => {
    expect(dependentsFrom(loopOf(14, 1), at(20))).toEqual(at(28));
    expect(dependentsFrom(loopOf(10, 1), at(20))).toBeNull();
    expect(dependentsFrom(null, at(20))).toBeNull();
  });
});

describe('who has changed an object last', () => {
  const of = (...managedFields: unknown[]) => lastManager({ metadata: { managedFields } });
  const field = (manager: string, time: string, more = {}) => ({ manager, time, operation: 'Update', ...more });

  test('is the manager of the newest entry', () => {
    const [old, young] = [field('a', '2026-01-02T03:04:05Z'), field('b', '2026-01-02T03:04:06Z')];
    expect([of(old, young), of(young, old)]).toEqual(['b', 'b']);
  });

  test('is nobody who has changed the status alone', () => {
    const status = field('kubelet', '2026-01-02T03:04:09Z', { subresource: 'status' });
    expect(of(field('a', '2026-01-02T03:04:05Z'), status)).toBe('a');
    expect(of(field('a', '2026-01-02T03:04:05Z'), field('hpa', '2026-01-02T03:04:09Z', { subresource: 'scale' }))).toBe(
      'hpa',
    );
  });

  test('is not known where the fields do not say so', () => {
    expect([
      of(),
      of('junk', { manager: 'a' }),
      lastManager({}),
      lastManager({ metadata: { managedFields: 'x' } }),
    ]).toEqual([undefined, undefined, undefined, undefined]);
  });
});
