/** What makes a resource run: events of its own, events of dependents, and time. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  backOffSeconds,
  countsAfter,
  countsBefore,
  interruptedAs,
  stretchedPeriod,
} from '../../../domain/operator/back-off.ts';
import {
  canonicalText,
  comparableDependent,
  dependentTriggers,
  ownersOf,
  ownersToRun,
} from '../../../domain/operator/dependent-change.ts';
import { isQueued, type SeenResource } from '../../../domain/operator/trigger.ts';

const entry = { watch_annotations_changes: false, selector: { matchLabels: { app: 'web' }, matchExpressions: [] } };
const seen = (over: Partial<SeenResource> = {}): SeenResource => ({
  uid: 'u1',
  generation: 3,
  labels: { app: 'web' },
  annotations: 'h1',
  ...over,
});
const updated = (now: Partial<SeenResource>, before: Partial<SeenResource> = {}) =>
  ({ type: 'updated', before: seen(before), now: seen(now) }) as const;

describe('an event of a resource', () => {
  test.each([
    ['E1', updated({ generation: 4 }), true],
    ['E2', updated({}), false],
    ['E3', updated({ annotations: 'h2' }), false],
    ['E4', updated({ labels: { app: 'web', tier: 'x' } }), false],
    ['E5', updated({ generation: 0 }, { generation: 0 }), true],
    ['E6', updated({ generation: 5 }, { generation: 4 }), true],
    ['E7', updated({ generation: 4, labels: { app: 'db' } }), false],
    ['made again in a gap', updated({ uid: 'u2' }), true],
    ['seen for the first time', { type: 'seen', now: seen() } as const, true],
    ['seen, of other labels', { type: 'seen', now: seen({ labels: {} }) } as const, false],
    ['its time has come', { type: 'timer', now: seen() } as const, true],
    ['its time has come, of other labels', { type: 'timer', now: seen({ labels: {} }) } as const, false],
    ['gone', { type: 'gone' } as const, true],
  ])('%s', (_, event, queued) => expect(isQueued(event, entry)).toBe(queued));

  test('E3 with watchAnnotationsChanges', () => {
    expect(isQueued(updated({ annotations: 'h2' }), { ...entry, watch_annotations_changes: true })).toBe(true);
    expect(isQueued(updated({}), { ...entry, watch_annotations_changes: true })).toBe(false);
  });
});

const deployment = (spec: object, metadata: object = {}, status: object = {}) => ({
  metadata: { name: 'd1', namespace: 'ns1', resourceVersion: '1', ...metadata },
  spec,
  status,
});
const fields = (time: string, manager = 'm') => ({ managedFields: [{ manager, time }, 'odd'] });

describe('an event of a dependent', () => {
  const one = deployment({ replicas: 1 }, fields('t1'), { ready: 0 });
  test.each([
    ['E8', { type: 'created' } as const, false],
    [
      'E9',
      {
        type: 'updated',
        before: one,
        now: deployment({ replicas: 1 }, { ...fields('t1'), resourceVersion: '2' }, { ready: 1 }),
      } as const,
      false,
    ],
    ['E10', { type: 'updated', before: one, now: deployment({ replicas: 2 }, fields('t1')) } as const, true],
    ['E11', { type: 'updated', before: one, now: deployment({ replicas: 1 }, fields('t2')) } as const, false],
    [
      'another manager',
      { type: 'updated', before: one, now: deployment({ replicas: 1 }, fields('t1', 'n')) } as const,
      true,
    ],
    ['E12', { type: 'deleted' } as const, true],
  ])('%s', (_, event, triggers) => expect(dependentTriggers(event)).toBe(triggers));

  test('the comparison takes the object as it is, in any order of keys', () => {
    expect(comparableDependent({ metadata: 'odd', status: 1, kind: 'x' })).toEqual({ metadata: 'odd', kind: 'x' });
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
        const turned = Object.fromEntries(Object.entries(object).reverse());
        expect(canonicalText(turned)).toBe(canonicalText(object));
      }),
    );
  });
});

describe('owners of a dependent', () => {
  const watched = { group: 'demo.io', kind: 'Widget', namespaced: true };
  const reference = (apiVersion: string, kind = 'Widget', name = 'w1') => ({ apiVersion, kind, name, uid: 'u' });
  const annotated = (owner: string, type: string, label = 'a') => ({
    metadata: {
      namespace: 'ns2',
      labels: { x: label },
      annotations: { 'operator-sdk/primary-resource': owner, 'operator-sdk/primary-resource-type': type },
    },
  });
  test.each([
    [
      'by reference, of any version',
      deployment({}, { ownerReferences: [reference('demo.io/v9')] }),
      [{ namespace: 'ns1', name: 'w1' }],
    ],
    ['of another group', deployment({}, { ownerReferences: [reference('other.io/v1'), reference('v1')] }), []],
    ['of another kind', deployment({}, { ownerReferences: [reference('demo.io/v1', 'Gadget')] }), []],
    ['E13', annotated('ns1/w1', 'Widget.demo.io'), [{ namespace: 'ns1', name: 'w1' }]],
    ['E14', annotated('ns1/w1', 'Other.demo.io'), []],
    ['not a name', annotated('a/b/c', 'Widget.demo.io'), []],
    ['no name', annotated('ns1/', 'Widget.demo.io'), []],
    ['odd forms', { metadata: { ownerReferences: ['x', { kind: 'Widget' }], annotations: 5 } }, []],
    ['none', {}, []],
  ])('%s', (_, object, owners) => expect(ownersOf(object, watched)).toEqual(owners));

  test('a cluster-scoped owner has no namespace', () => {
    const object = deployment({}, { ownerReferences: [reference('demo.io/v1')] });
    expect(ownersOf(object, { ...watched, namespaced: false })).toEqual([{ namespace: '', name: 'w1' }]);
  });

  test('both states of an update count, each owner once', () => {
    const before = annotated('ns1/w1', 'Widget.demo.io', 'a');
    expect(ownersToRun([before, annotated('ns1/w2', 'Widget.demo.io', 'b'), before], watched)).toEqual([
      { namespace: 'ns1', name: 'w1' },
      { namespace: 'ns1', name: 'w2' },
    ]);
  });
});

describe('after a failure', () => {
  test('L16: retries after 2, 4, 8 s; by default after 1, 2, 4 s, at most 1000 s', () => {
    const backoff = { initial: '2s', factor: 2, max: '1000s' };
    expect([0, 1, 2].map((failures) => backOffSeconds(backoff, failures))).toEqual([2, 4, 8]);
    const standard = { ...backoff, initial: '1s' };
    expect([0, 1, 9, 10, 100_000].map((failures) => backOffSeconds(standard, failures))).toEqual([
      1, 2, 512, 1_000, 1_000,
    ]);
    expect(backOffSeconds({ initial: '100ms', factor: 1, max: '24h' }, 1_000_000)).toBe(0.1);
  });

  test('counts', () => {
    const counts = { failures: 2, interruptions: 1 };
    expect(countsAfter(counts, 'ok')).toEqual({ failures: 0, interruptions: 0 });
    expect(countsAfter(counts, 'failed')).toEqual({ failures: 3, interruptions: 0 });
    expect(countsAfter(counts, 'cancelled')).toEqual({ failures: 2, interruptions: 0 });
    expect(countsAfter(counts, 'interrupted')).toEqual({ failures: 2, interruptions: 2 });
    expect(countsBefore(counts, 4, 4)).toEqual(counts);
    expect([countsBefore(counts, 4, 5), countsBefore(counts, null, 1)]).toEqual([
      { failures: 0, interruptions: 0 },
      { failures: 0, interruptions: 0 },
    ]);
  });

  test('three interruptions in a row are none of its failures, the fourth is', () => {
    let counts = { failures: 0, interruptions: 0 };
    const seenAs = Array.from({ length: 4 }, () => {
      const as = interruptedAs(counts);
      counts = countsAfter(counts, as);
      return as;
    });
    expect(seenAs).toEqual(['interrupted', 'interrupted', 'interrupted', 'failed']);
    expect(counts).toEqual({ failures: 1, interruptions: 0 });
  });

  test('a period is stretched by at most a tenth', () => {
    expect([stretchedPeriod(100, 0), stretchedPeriod(100, 1)]).toEqual([100, 110.00000000000001]);
  });
});
