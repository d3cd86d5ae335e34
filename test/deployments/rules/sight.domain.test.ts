/** What is watched in a cluster, what is kept of an object, and what that is worth. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { LiveResource } from '../../../domain/deployments/cluster-status.ts';
import {
  appliedSince,
  type ClusterSight,
  isReceived,
  isStale,
  type KindState,
  staleCause,
  whyUnwatched,
} from '../../../domain/deployments/freshness.ts';
import { identityOf } from '../../../domain/deployments/manifest-identity.ts';
import { isMetadataOnly, seenObject, shownLive, watchedKinds } from '../../../domain/deployments/snapshot.ts';
import { unsupportedPause, verdictOf, watchPause } from '../../../domain/deployments/watch-verdict.ts';

const at = (second: number) => new Date(Date.UTC(2031, 2, 4, 8, 0, second));
const DEPLOYMENT = { group: 'apps', version: 'v1', kind: 'Deployment' };
const LABEL = { 'emco/deployment-id': '77-agent' };

describe('the kinds that are watched', () => {
  test('are those of the AppContexts, and Pods and Jobs, which come of any of them', () => {
    const kinds = watchedKinds([
      { ...DEPLOYMENT, appliedAt: at(5) },
      { group: '', version: 'v1', kind: 'Pod', appliedAt: at(1) },
      { group: '', version: 'v1', kind: 'Secret', appliedAt: null },
    ]);
    expect(kinds.map(({ kind, appliedAt }) => [kind, appliedAt])).toEqual([
      ['Deployment', at(5)],
      ['Pod', at(5)],
      ['Secret', null],
      ['Job', at(5)],
    ]);
    expect(watchedKinds([]).map(({ kind }) => kind)).toEqual(['Pod', 'Job']);
  });

  test('are each there once, and Pods count as applied with the last of them', () => {
    const kind = fc.record({
      group: fc.constantFrom('', 'apps', 'batch'),
      version: fc.constant('v1'),
      kind: fc.constantFrom('Pod', 'Job', 'Service'),
      appliedAt: fc.option(fc.integer({ min: 0, max: 50 }).map(at)),
    });
    fc.assert(
      fc.property(fc.array(kind), (applied) => {
        const kinds = watchedKinds(applied);
        const keys = kinds.map((each) => `${each.group}/${each.kind}`);
        expect(new Set(keys).size).toBe(keys.length);
        for (const each of applied) expect(keys).toContain(`${each.group}/${each.kind}`);
        const last = Math.max(-1, ...applied.map(({ appliedAt }) => appliedAt?.getTime() ?? -1));
        const [pod] = kinds.filter((each) => each.group === '' && each.kind === 'Pod');
        expect(pod?.appliedAt?.getTime() ?? -1).toBe(last);
      }),
    );
  });

  test('leave the data of Secrets and ConfigMaps in their cluster', () => {
    const core = (kind: string, group = '') => isMetadataOnly({ group, kind });
    expect(['Secret', 'ConfigMap', 'Pod'].map((kind) => core(kind))).toEqual([true, true, false]);
    expect(core('Secret', 'example.com')).toBe(false);
  });
});

describe('what is kept of an object', () => {
  const metadata = { name: 'agent', namespace: 'obs', uid: 'u1', labels: LABEL };

  test('is without what only the server needs, and with its own kind', () => {
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}', team: 'a' };
    const object = {
      metadata: { ...metadata, managedFields: [{}], annotations },
      spec: { replicas: 1 },
      status: { x: 1 },
    };
    expect(seenObject(DEPLOYMENT, object)).toEqual({
      ...{ namespace: 'obs', name: 'agent', uid: 'u1', context: '77', app: 'agent' },
      object: {
        ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { ...metadata, annotations: { team: 'a' } } },
        ...{ spec: { replicas: 1 }, status: { x: 1 } },
      },
    });
  });

  test('holds nothing of a Secret but its metadata, whatever the server sends', () => {
    const kind = { group: '', version: 'v1', kind: 'Secret' };
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"a":"aHVudGVyMg=="}}' };
    const sent = { kind: 'PartialObjectMetadata', metadata: { ...metadata, annotations }, data: { a: 'aHVudGVyMg==' } };
    const seen = seenObject(kind, sent);
    expect(seen?.object).toEqual({ apiVersion: 'v1', kind: 'Secret', metadata });
  });

  test.each(['-agent', '123-', 'agent', ''])('is nothing where the label is %p', (label) => {
    const object = { metadata: { ...metadata, labels: { 'emco/deployment-id': label } } };
    expect(seenObject(DEPLOYMENT, object)).toBeNull();
  });

  test.each([null, 'text', [], {}, { metadata: { labels: LABEL } }])('is nothing of %p', (object) => {
    expect(seenObject(DEPLOYMENT, object)).toBeNull();
  });
});

describe('what is shown of a group', () => {
  const live = (apiVersion: string, kind: string, name: string, more: object = {}, isOwn = true): LiveResource => {
    const object = { apiVersion, kind, metadata: { name, namespace: 'obs', ...more } };
    return { identity: identityOf(object), object, isOwn };
  };
  const owner = (apiVersion: string, kind: string, name: string) => ({ ownerReferences: [{ apiVersion, kind, name }] });
  const manifests = [
    live('apps/v1', 'Deployment', 'agent'),
    live('batch/v1', 'CronJob', 'nightly'),
    live('v1', 'Service', 'agent'),
  ];
  const shown = (...all: LiveResource[]) => shownLive(all, manifests).map(({ object }) => object.metadata);

  test('is what manifests describe in any version, Pods, and Jobs of its CronJobs', () => {
    const kept = [
      live('apps/v1beta1', 'Deployment', 'agent'),
      live('v1', 'Pod', 'agent-1'),
      live('batch/v1', 'Job', 'nightly-1', owner('batch/v1', 'CronJob', 'nightly')),
      live('v1', 'Service', 'agent', {}, false),
    ];
    const others = [
      live('apps/v1', 'ReplicaSet', 'agent-1'),
      live('discovery.k8s.io/v1', 'EndpointSlice', 'agent-1'),
      live('batch/v1', 'Job', 'other-1', owner('batch/v1', 'CronJob', 'other')),
      live('batch/v1', 'Job', 'fake-1', owner('example.com/v1', 'CronJob', 'nightly')),
      live('batch/v1', 'Job', 'alone'),
      live('v1', 'Pod', 'foreign', {}, false),
    ];
    expect(shown(...kept, ...others)).toEqual(kept.map(({ object }) => object.metadata));
  });
});

describe('what was seen', () => {
  const kind = (more: Partial<KindState> = {}): KindState => ({
    ...{ group: 'apps', kind: 'Deployment', isSupported: true, listedAt: at(10), failingSince: null },
    ...{ reason: null, message: null },
    ...more,
  });

  test.each<[string, KindState[], Date | null, boolean]>([
    ['a list that began after the first apply', [kind()], at(9), true],
    ['a list that began with it', [kind()], at(10), true],
    ['a list from before', [kind()], at(11), false],
    ['a group that was never applied', [kind()], null, false],
    ['no list that ended', [kind({ listedAt: null })], at(9), false],
    ['a kind that is not supported', [kind({ isSupported: false })], at(9), false],
    ['another kind', [kind({ group: 'extensions' })], at(9), false],
    ['a cluster that was never watched', [], at(9), false],
  ])('is received or not: %s', (_what, kinds, appliedAt, expected) => {
    expect(isReceived({ kinds }, DEPLOYMENT, appliedAt)).toBe(expected);
  });

  test.each<[string, Date | null, boolean, boolean]>([
    ['at a time that was noted', at(11), true, false],
    ['by a release that noted no time', null, true, true],
    ['never', null, false, false],
  ])('of a group that was applied %s counts or not', (_what, notedAt, wasSent, expected) => {
    expect(isReceived({ kinds: [kind()] }, DEPLOYMENT, appliedSince(notedAt, wasSent))).toBe(expected);
  });

  const sight = (more: Partial<ClusterSight> = {}) => ({
    ...{ kinds: [kind()], watchedUntil: at(130), connectivity: 'Reachable' as const },
    ...more,
  });
  test.each<[string, Parameters<typeof isStale>[0], boolean]>([
    ['all is well', sight(), false],
    ['the cluster does not answer for a moment', { ...sight(), connectivity: 'Retrying' }, false],
    ['the cluster is unreachable', { ...sight(), connectivity: 'Unreachable' }, true],
    ['a kind fails for a moment', sight({ kinds: [kind({ failingSince: at(61) })] }), false],
    ['a kind fails for long', sight({ kinds: [kind({ failingSince: at(60) })] }), true],
    ['another kind fails for long', sight({ kinds: [kind({ kind: 'Other', failingSince: at(0) })] }), false],
    ['a kind is not supported', sight({ kinds: [kind({ isSupported: false, failingSince: at(0) })] }), false],
    ['no worker watches for a moment', sight({ watchedUntil: at(61) }), false],
    ['no worker watches for long', sight({ watchedUntil: at(60) }), true],
    ['it was never watched', sight({ kinds: [], watchedUntil: null }), false],
  ])('is stale or not: %s', (_what, known, expected) => {
    expect(isStale(known, [DEPLOYMENT], { now: at(120), staleAfterMs: 60_000 })).toBe(expected);
  });
});

describe('why nothing is seen', () => {
  const kind = (more: Partial<KindState> = {}): KindState => ({
    ...{ group: 'apps', kind: 'Deployment', isSupported: true, listedAt: at(10), failingSince: null },
    ...{ reason: 'Forbidden', message: 'not allowed' },
    ...more,
  });
  const WHY = { reason: 'Forbidden', message: 'not allowed' };

  test.each<[string, KindState[], object | null]>([
    ['a kind that is not supported', [kind({ isSupported: false })], WHY],
    ['a kind that fails', [kind({ failingSince: at(0) })], WHY],
    ['a kind without words', [kind({ isSupported: false, message: null })], { reason: 'Forbidden', message: '' }],
    ['a kind that is watched', [kind()], null],
    ['a kind of which nothing was said', [kind({ isSupported: false, reason: null })], null],
    ['another kind', [kind({ group: 'extensions', isSupported: false })], null],
  ])('is what was said of the kind: %s', (_what, kinds, expected) => {
    expect(whyUnwatched({ kinds }, DEPLOYMENT)).toEqual(expected);
  });

  test('is of Secrets the reason alone', () => {
    const secret = { group: '', kind: 'Secret' };
    expect(whyUnwatched({ kinds: [kind({ ...secret, isSupported: false })] }, secret)).toEqual({ ...WHY, message: '' });
  });

  const sight = (more: Partial<ClusterSight> = {}) => ({
    ...{ kinds: [kind({ failingSince: at(60) })], watchedUntil: at(130), connectivity: 'Reachable' as const },
    ...more,
  });
  test.each<[string, Parameters<typeof staleCause>[0], string]>([
    ['a kind fails for long', sight(), 'Deployment cannot be watched: Forbidden: not allowed'],
    [
      'a kind fails without words',
      sight({ kinds: [kind({ failingSince: at(60), reason: null })] }),
      'Deployment cannot be watched',
    ],
    ['a kind fails for a moment', sight({ kinds: [kind({ failingSince: at(61) })] }), ''],
    ['no worker watches for long', sight({ watchedUntil: at(60) }), 'no worker watches the cluster'],
    ['the cluster is unreachable', { ...sight(), connectivity: 'Unreachable' }, ''],
    ['all is well', sight({ kinds: [kind()] }), ''],
  ])('makes a group stale: %s', (_what, known, expected) => {
    expect(staleCause(known, [DEPLOYMENT], { now: at(120), staleAfterMs: 60_000 })).toBe(expected);
  });
});

describe('a watch that cannot go on', () => {
  const status = (httpStatus: number, reason: string, retryAfter: number | null = null) => ({
    ...{ httpStatus, retryAfter },
    body: { kind: 'status' as const, reason, message: 'no', causes: [] },
  });
  test.each([
    ['no permission', status(403, 'Forbidden'), 'unsupported', 'Forbidden'],
    ['no such kind', status(404, 'NotFound'), 'unsupported', 'NotFound'],
    ['no such verb', status(405, 'MethodNotAllowed'), 'unsupported', 'MethodNotAllowed'],
    ['a credential that does not count', status(401, 'Unauthorized'), 'failing', 'Unauthorized'],
    ['too many requests', status(429, 'TooManyRequests', 7), 'failing', 'TooManyRequests'],
    ['a fault of the server', status(500, 'InternalError'), 'failing', 'InternalError'],
    ['no connection', { noAnswer: 'connection' as const, message: 'reset' }, 'failing', 'Unreachable'],
    ['a page of something else', { httpStatus: 404, retryAfter: null, body: null }, 'failing', 'NotKubernetes'],
  ])('means of %s', (_what, answer, is, reason) => {
    expect(verdictOf(answer)).toMatchObject({ is, reason });
  });

  test('is asked for again soon where its kind may be defined a moment later, and then each minute', () => {
    expect([1, 2, 3, 6, 99].map(unsupportedPause)).toEqual([2_000, 4_000, 8_000, 60_000, 60_000]);
  });

  test('rests longer each time, never longer than half a minute but where it is told to, and not all at once', () => {
    expect([0, 1, 2, 4, 9, 99].map((failures) => watchPause(failures, 1))).toEqual([
      1_000, 2_000, 4_000, 16_000, 30_000, 30_000,
    ]);
    expect([watchPause(3, 0), watchPause(3, 0.5)]).toEqual([4_000, 6_000]);
    expect(watchPause(0, 1, 60)).toBe(60_000);
    fc.assert(
      fc.property(fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (failures, chance) => {
        const pause = watchPause(failures, chance);
        expect(pause).toBeGreaterThanOrEqual(500);
        expect(pause).toBeLessThanOrEqual(30_000);
      }),
    );
  });
});
