/** What follows from a drain, from a cancel before a run, and from an end: by the rules alone. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { CustomResource } from '../../../domain/operator/custom-resource.ts';
import { cancelledBegin, decideBegin } from '../../../domain/operator/decide-begin.ts';
import { decideEnd, type Ended } from '../../../domain/operator/decide-end.ts';
import { resultWord } from '../../../domain/operator/meters.ts';
import { noticeMessage, noticeName, noticeOfEnd } from '../../../domain/operator/notice.ts';
import type { ReconcileOutcome } from '../../../domain/operator/resource-words.ts';
import type { WatchEntry } from '../../../domain/operator/watch-entry.ts';
import { load } from '../watches/entries.ts';

const F = 'demo.io/finalizer';
const entryOf = (more: string): WatchEntry => {
  const [entry] = load(`[{group: demo.io, version: v1, kind: Widget, playbook: pb.yml${more}}]`).entries;
  if (entry === undefined) throw new Error('no entry');
  return entry;
};
const withFinalizer = entryOf(`, finalizer: {name: ${F}, vars: {x: 1}}`);
const resource = (metadata: Partial<CustomResource['metadata']> = {}): CustomResource => ({
  apiVersion: 'demo.io/v1',
  kind: 'Widget',
  metadata: { name: 'w', namespace: 'ns', uid: 'u', generation: 1, ...metadata },
});
const PERIOD = 'ansible.sdk.operatorframework.io/reconcile-period';

describe('a drain', () => {
  test('at once takes our finalizer and leaves those of others, also where the period cannot be read', () => {
    const bad = resource({ finalizers: [F, 'other.io/f'], annotations: { [PERIOD]: '3x' } });
    expect(decideBegin(bad, withFinalizer, 60, 'now')).toEqual({ does: 'drain', finalizers: ['other.io/f'] });
  });

  test('by a run lets the finalizer run, though the resource stays; at its end the finalizer goes', () => {
    const before = resource({ finalizers: [F] });
    const begin = decideBegin(before, withFinalizer, 60, 'run');
    expect(begin).toMatchObject({ does: 'run', finalizerRun: true, addFinalizer: null });
    const began = { uid: 'u', finalizerRun: true, periodSeconds: 60 };
    const ok: Ended = { outcome: 'ok', messages: [], requeue: null };
    expect(decideEnd(before, began, withFinalizer, ok)).toMatchObject({ finalizers: [], outcome: 'ok' });
    const failed: Ended = { outcome: 'failed', messages: [], requeue: null };
    expect(decideEnd(before, began, withFinalizer, failed)).toMatchObject({ finalizers: null, outcome: 'failed' });
  });

  test.each(['run', 'now'] as const)('%s: a resource without our finalizer gets none and runs nothing', (mode) => {
    expect(decideBegin(resource(), withFinalizer, 60, mode)).toEqual({ does: 'drain', finalizers: null });
    expect(decideBegin(resource(), entryOf(''), 60, mode)).toEqual({ does: 'drain', finalizers: null });
    expect(decideBegin(null, withFinalizer, 60, mode)).toEqual({ does: 'end', outcome: 'gone' });
  });
});

test('what is cancelled before it began runs again at its period', () => {
  const cancelled = { does: 'end', outcome: 'cancelled' };
  expect(cancelledBegin(resource(), withFinalizer, 60)).toEqual({ ...cancelled, periodSeconds: 60 });
  const own = resource({ annotations: { [PERIOD]: '90s' } });
  expect(cancelledBegin(own, withFinalizer, 60)).toEqual({ ...cancelled, periodSeconds: 90 });
  const bad = resource({ annotations: { [PERIOD]: '3x' } });
  expect(cancelledBegin(bad, withFinalizer, 60)).toEqual({ ...cancelled, periodSeconds: null });
  expect(cancelledBegin(null, withFinalizer, 60)).toEqual({ does: 'end', outcome: 'gone' });
});

describe('an Event', () => {
  test.each<[ReconcileOutcome, ReconcileOutcome | null, string | null]>([
    ['failed', null, 'ReconcileFailed'],
    ['failed', 'failed', 'ReconcileFailed'],
    ['ok', 'failed', 'Reconciled'],
    ['ok', 'ok', null],
    ['ok', null, null],
    ['interrupted', 'ok', 'ReconcileInterrupted'],
    ['cancelled', 'failed', null],
    ['gone', 'failed', null],
    ['refused', null, null],
  ])('of %s after %s: %s', (outcome, last, reason) => {
    expect(noticeOfEnd(outcome, ['boom', 'bang'], last)?.reason ?? null).toBe(reason);
  });

  test('says the messages, one a line', () => {
    expect(noticeOfEnd('failed', ['boom', 'bang'], null)?.message).toBe('boom\nbang');
  });

  test('has a name that Kubernetes takes, whatever that of the resource is', () => {
    const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
    const isName = new RegExp(`^${label}(\\.${label})*$`);
    fc.assert(
      fc.property(
        fc.string({ maxLength: 300, unit: fc.constantFrom('a', 'B', '0', '-', '.', ':', '/', 'é') }),
        (name) => {
          const made = noticeName(name, '0123456789abcdef');
          expect(made).toMatch(isName);
          expect(made.length).toBeLessThanOrEqual(253);
        },
      ),
    );
    expect(noticeName('w1.demo', 'ab')).toBe('w1.demo.ab');
    expect(noticeName(`${'a'.repeat(219)}-b`, 'ab')).toBe(`${'a'.repeat(219)}.ab`);
  });

  test('has at most 1,024 bytes, whole characters, from the beginning', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 3_000 }), (text) => {
        const cut = noticeMessage(text.toWellFormed());
        expect(new TextEncoder().encode(cut).length).toBeLessThanOrEqual(1_024);
        expect(text.toWellFormed().startsWith(cut)).toBe(true);
      }),
    );
    expect(noticeMessage('é'.repeat(600))).toBe('é'.repeat(512));
    expect(noticeMessage(`x${'é'.repeat(600)}`)).toBe(`x${'é'.repeat(511)}`);
  });
});

test.each<[ReconcileOutcome, boolean, string]>([
  ['ok', false, 'success'],
  ['ok', true, 'requeue_after'],
  ['failed', false, 'error'],
  ['interrupted', false, 'requeue'],
  ['cancelled', true, 'requeue_after'],
  ['gone', false, 'success'],
])('controllers call %s (again: %s) %s', (outcome, requeues, word) => {
  expect(resultWord(outcome, requeues)).toBe(word);
});
