import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { LiveResource, RsyncResource } from '../../../domain/deployments/cluster-status.ts';
import { addCounts, type Counts, countBy } from '../../../domain/deployments/counting.ts';
import { legacyAnswer } from '../../../domain/deployments/legacy-view.ts';
import { identityOf } from '../../../domain/deployments/manifest-identity.ts';
import { RSYNC_STATUSES, type RsyncStatus } from '../../../domain/deployments/resource-status.ts';
import { type GivenQuery, readStatusQuery } from '../../../domain/deployments/status-query.ts';
import { type AppOnCluster, type StatusHead, statusAnswer } from '../../../domain/deployments/status-view.ts';
import { refusalOf } from './refusal.ts';

const head: StatusHead = {
  names: { name: 'edge-rollout' },
  state: 'Instantiated',
  actions: [{ state: 'Instantiated', instance: '9007199254740993', time: '2031-03-04T08:00:09.015Z' }],
  status: 'Instantiated',
};
const API: Record<string, string> = { StatefulSet: 'apps/v1', DaemonSet: 'apps/v1' };
const manifestOf = (kind: string, name: string) => ({
  apiVersion: API[kind] ?? 'v1',
  kind,
  metadata: { name, namespace: 'obs' },
});

function resource(
  kind: string,
  name: string,
  status: RsyncStatus = 'Applied',
  reason: string | null = null,
): RsyncResource {
  const manifest = manifestOf(kind, name);
  return { key: `${name}+${kind}`, identity: identityOf(manifest), status, reason, message: null, manifest };
}

function live(kind: string, name: string, more: object = {}, isOwn = true): LiveResource {
  const object = { ...manifestOf(kind, name), ...more };
  return { identity: identityOf(object), object, isOwn };
}

function group(
  app: string,
  cluster: string,
  resources: RsyncResource[],
  more: Partial<AppOnCluster> = {},
): AppOnCluster {
  const seen = { isReceived: () => true, isStale: false, connectivity: 'Reachable' as const, lastSeen: null, live: [] };
  const silent = { staleCause: '', whyUnwatched: () => null };
  return { app, provider: 'lab', cluster, resources, ...seen, ...silent, ...more };
}

const agent = (cluster: string, status: RsyncStatus = 'Applied') =>
  group('agent', cluster, [
    resource('Service', 'agent', status),
    resource('ConfigMap', 'cfg', status),
    resource('DaemonSet', 'agent', status),
  ]);
const store = (cluster: string, status: RsyncStatus = 'Applied') =>
  group('store', cluster, [resource('Service', 'store', status), resource('StatefulSet', 'store', status)]);
const GROUPS = [agent('south'), agent('north'), store('south', 'Retrying'), store('north')];

const ask = (given: GivenQuery, groups: readonly AppOnCluster[] = GROUPS, asked = head) =>
  statusAnswer(asked, groups, readStatusQuery(given)) as Record<string, never>;

describe('a status query', () => {
  test.each<[GivenQuery, string]>([
    [{ cluster: ['north'] }, 'Invalid cluster query'],
    [{ cluster: ['lab north'] }, 'Invalid cluster query'],
    [{ cluster: [`lab+${'n'.repeat(64)}`] }, 'Invalid cluster query'],
    [{ type: ['foo'] }, 'Invalid query type'],
    [{ output: ['long'] }, 'Invalid query output'],
    [{ instance: [''] }, 'Invalid query instance'],
    [{ instance: ['1'.repeat(33)] }, 'Invalid query instance'],
    [{ app: ['-x'] }, 'Invalid app query'],
    [{ app: ['agent', 'a'.repeat(64)] }, 'Invalid app query'],
    [{ resource: [''] }, 'Invalid resources query'],
    [{ format: ['new'] }, 'Invalid query format'],
    [{ format: ['legacy'], type: ['all'] }, 'Invalid query type'],
    [{ format: ['legacy'], output: ['apps'] }, 'Invalid query output'],
  ])('%j is refused in EMCO’s words', (given, words) => {
    expect(refusalOf(() => readStatusQuery(given))).toMatchObject({
      code: 'bad_request',
      detail: expect.stringMatching(`^${words}`),
    });
  });

  test('says how a plus is sent', () => {
    expect(refusalOf(() => readStatusQuery({ cluster: ['lab north'] }))?.detail).toContain('%2B');
  });

  test('takes the first of some parameters and all of others', () => {
    expect(readStatusQuery({ type: ['cluster', 'rsync'], app: ['agent', 'store'] })).toMatchObject({
      type: 'cluster',
      apps: ['agent', 'store'],
    });
    expect(readStatusQuery({ output: ['rsync'], type: ['all'] })).toMatchObject({ type: 'rsync', output: 'detail' });
    expect(readStatusQuery({})).toMatchObject({ type: 'rsync', output: 'all', instance: null });
  });
});

describe('an answer', () => {
  test('has the counts alone as a summary, and keeps an id a text', () => {
    expect(ask({ output: ['summary'] })).toEqual({
      name: 'edge-rollout',
      state: 'Instantiated',
      states: { actions: head.actions },
      status: 'Instantiated',
      'rsync-status': { Applied: 8, Retrying: 2 },
    });
  });

  test('has apps in their order, clusters by name, resources by key', () => {
    const shown = ask({ app: ['store'], cluster: ['lab+north'] });
    expect(shown).toMatchObject({ 'rsync-status': { Applied: 2 }, status: 'Instantiated' });
    expect(shown.apps).toEqual([
      {
        name: 'store',
        clusters: [
          {
            'cluster-provider': 'lab',
            cluster: 'north',
            resources: [
              {
                GVK: { Group: '', Version: 'v1', Kind: 'Service' },
                name: 'store',
                namespace: 'obs',
                'rsync-status': 'Applied',
              },
              {
                GVK: { Group: 'apps', Version: 'v1', Kind: 'StatefulSet' },
                name: 'store',
                namespace: 'obs',
                'rsync-status': 'Applied',
              },
            ],
          },
        ],
      },
    ]);
    const all = ask({}) as unknown as { apps: { name: string; clusters: { cluster: string }[] }[] };
    expect(all.apps.map(({ name, clusters }) => [name, ...clusters.map(({ cluster }) => cluster)])).toEqual([
      ['agent', 'north', 'south'],
      ['store', 'north', 'south'],
    ]);
  });

  test('keeps what has the name, of any kind, and nothing empty', () => {
    expect(ask({ resource: ['agent'], output: ['apps'] })).toMatchObject({
      'rsync-status': { Applied: 4 },
      apps: [{ name: 'agent' }],
    });
    const none = ask({ app: ['nosuch'] });
    expect(Object.keys(none)).toEqual(['name', 'state', 'states', 'status']);
  });

  test('has no status before there is an AppContext', () => {
    expect(Object.keys(ask({}, GROUPS, { ...head, state: 'Approved', status: null }))).toEqual([
      'name',
      'state',
      'states',
    ]);
  });

  test('has counts by app and by cluster', () => {
    expect(ask({ output: ['clusters'], app: ['store'] }).apps).toEqual([
      {
        name: 'store',
        clusters: [
          { 'cluster-provider': 'lab', cluster: 'north', 'rsync-status': { Applied: 2 } },
          { 'cluster-provider': 'lab', cluster: 'south', 'rsync-status': { Retrying: 2 } },
        ],
      },
    ]);
  });

  test('shows live objects by kind, and those of others not', () => {
    const objects = [
      live('StatefulSet', 'store'),
      live('Widget', 'w'),
      live('Service', 'store', { spec: { clusterIP: '10.0.0.1' } }),
      live('Pod', 'store-0'),
      live('Pod', 'alien', {}, false),
    ];
    const shown = ask({ type: ['cluster'] }, [{ ...store('north'), live: objects }]) as unknown as {
      apps: [{ clusters: [{ resources: { name: string; GVK: { Kind: string } }[] }] }];
    };
    expect(shown).toMatchObject({ 'cluster-status': { Present: 4 } });
    expect(shown).not.toHaveProperty('rsync-status');
    expect(shown.apps[0].clusters[0].resources.map(({ GVK }) => GVK.Kind)).toEqual([
      'Pod',
      'Service',
      'StatefulSet',
      'Widget',
    ]);
  });

  test('says of a deleted object that it was deleted outside, with the manifest as detail', () => {
    const lost = group('agent', 'north', [resource('ConfigMap', 'cfg')]);
    expect(ask({ type: ['all'], output: ['detail'] }, [lost])).toMatchObject({
      'rsync-status': { Applied: 1 },
      'cluster-status': { NotPresent: 1 },
      'ready-status': { NotReady: 1 },
      ready: false,
      apps: [{ clusters: [{ resources: [{ reason: 'DeletedOutside', detail: { metadata: { name: 'cfg' } } }] }] }],
    });
  });

  test.each<[string, Partial<AppOnCluster>, object]>([
    ['not received', { isReceived: () => false }, { 'cluster-status': 'Unknown', 'ready-status': 'Unknown' }],
    ['there', { live: [live('ConfigMap', 'cfg')] }, { 'cluster-status': 'Present', 'ready-status': 'Ready' }],
    [
      'there in another version',
      { live: [live('ConfigMap', 'cfg', { apiVersion: 'v2' })] },
      { 'cluster-status': 'Present' },
    ],
    [
      'of others',
      { live: [live('ConfigMap', 'cfg', {}, false)] },
      { 'cluster-status': 'NotPresent', 'ready-status': 'NotReady', reason: 'NotOwned' },
    ],
    [
      'stale',
      { live: [live('ConfigMap', 'cfg')], isStale: true },
      { 'cluster-status': 'Present', 'ready-status': 'Unknown', reason: 'Stale' },
    ],
    [
      'of a kind that may not be watched',
      { isReceived: () => false, whyUnwatched: () => ({ reason: 'Forbidden', message: 'not allowed' }) },
      { 'cluster-status': 'Unknown', 'ready-status': 'Unknown', reason: 'Forbidden', message: 'not allowed' },
    ],
    [
      'stale by a kind',
      { live: [live('ConfigMap', 'cfg')], isStale: true, staleCause: 'Pod cannot be watched: Forbidden' },
      { 'ready-status': 'Unknown', reason: 'Stale', message: 'Pod cannot be watched: Forbidden' },
    ],
    [
      'on its way out',
      { live: [live('ConfigMap', 'cfg', { metadata: { name: 'cfg', namespace: 'obs', deletionTimestamp: 'x' } })] },
      { 'ready-status': 'NotReady', reason: 'Terminating' },
    ],
  ])('joins a manifest with its object: %s', (_title, more, expected) => {
    const shown = ask({ type: ['all'] }, [group('agent', 'north', [resource('ConfigMap', 'cfg')], more)]);
    expect(shown).toMatchObject({ apps: [{ clusters: [{ resources: [expected] }] }] });
  });

  test('has no reason of a kind that may not be watched before it is applied', () => {
    const whyUnwatched = () => ({ reason: 'NotFound', message: 'no such kind' });
    const waits = group('agent', 'north', [resource('Widget', 'w', 'Pending')], {
      isReceived: () => false,
      whyUnwatched,
    });
    const shown = ask({ type: ['all'] }, [waits]) as unknown as { apps: [{ clusters: [{ resources: object[] }] }] };
    expect(shown.apps[0].clusters[0].resources).toEqual([expect.not.objectContaining({ reason: expect.anything() })]);
  });

  test('is ready when all manifests are, and never while a cluster is silent', () => {
    const whole = group('agent', 'north', [resource('ConfigMap', 'cfg')], {
      live: [live('ConfigMap', 'cfg'), live('Pod', 'p')],
    });
    expect(ask({ type: ['all'], output: ['summary'] }, [whole])).toMatchObject({
      ready: true,
      'ready-status': { Ready: 1, NotReady: 1 },
    });
    expect(ask({ type: ['all'] }, [whole], { ...head, status: 'Instantiating' })).toMatchObject({ ready: false });
    const silent = { ...whole, isStale: true, connectivity: 'Unreachable' as const, lastSeen: '2031-01-01T00:00:00Z' };
    expect(ask({ type: ['all'] }, [silent])).toMatchObject({
      ready: false,
      apps: [{ clusters: [{ connectivity: 'Unreachable', 'last-seen': '2031-01-01T00:00:00Z' }] }],
    });
  });

  test.each<[string, boolean, Partial<AppOnCluster>]>([
    [
      'each manifest has its object, whatever its Pods say',
      true,
      { live: [live('ConfigMap', 'cfg'), live('Pod', 'p')] },
    ],
    ['nothing has been listed', false, { isReceived: () => false }],
    ['nothing was ever heard of the cluster', false, { isReceived: () => false, isStale: true }],
    ['all objects were deleted', false, {}],
    ['a Pod is all that is left', false, { live: [live('Pod', 'p', { status: { phase: 'Succeeded' } })] }],
    ['the object is of another AppContext', false, { live: [live('ConfigMap', 'cfg', {}, false)] }],
    ['the cluster is silent', false, { live: [live('ConfigMap', 'cfg')], isStale: true }],
  ])('of live objects alone is as ready as with the manifests: %s', (_title, ready, more) => {
    const seen = group('agent', 'north', [resource('ConfigMap', 'cfg')], more);
    const other = group('agent', 'south', [resource('ConfigMap', 'cfg')], { live: [live('ConfigMap', 'cfg')] });
    for (const type of ['cluster', 'all']) {
      for (const output of ['summary', 'all']) {
        expect(ask({ type: [type], output: [output] }, [seen, other])).toMatchObject({ ready });
      }
      expect(ask({ type: [type], cluster: ['lab+south'] }, [seen, other])).toMatchObject({ ready: true });
    }
  });

  test('says first what the synchroniser could not do', () => {
    const refused = { ...resource('ConfigMap', 'cfg', 'Failed', 'Forbidden'), message: 'no rights' };
    expect(ask({ type: ['all'] }, [group('agent', 'north', [refused])])).toMatchObject({
      apps: [{ clusters: [{ resources: [{ reason: 'Forbidden', message: 'no rights' }] }] }],
    });
  });
});

describe('the older shape', () => {
  const old = (given: GivenQuery, groups: readonly AppOnCluster[]) =>
    legacyAnswer(head, groups, readStatusQuery({ format: ['legacy'], ...given }));
  const gone = group('agent', 'north', [resource('ConfigMap', 'cfg', 'Deleted')], {
    live: [live('Pod', 'p', { status: { phase: 'Running' } })],
  });

  test('calls Deleted Terminated and leaves the history out', () => {
    expect(old({ output: ['summary'] }, [gone])).toEqual({
      name: 'edge-rollout',
      state: 'Instantiated',
      status: 'Instantiated',
      'rsync-status': { Terminated: 1 },
      'cluster-status': { NotPresent: 1, Present: 1 },
    });
  });

  test('has the live object in detail, and manifests alone as rsync', () => {
    expect(old({ output: ['detail'] }, [gone])).toMatchObject({
      resources: [
        {
          'app-name': 'agent',
          clusters: [
            {
              name: 'lab+north',
              resources: [
                { Name: 'cfg', 'rsync-status': 'Terminated', 'cluster-status': 'NotPresent' },
                { Name: 'p', status: { phase: 'Running' } },
              ],
            },
          ],
        },
      ],
    });
    const rsync = old({ output: ['rsync'] }, [gone]);
    expect(rsync).toEqual({
      name: 'edge-rollout',
      state: 'Instantiated',
      status: 'Instantiated',
      'rsync-status': { Terminated: 1 },
      resources: [
        {
          'app-name': 'agent',
          clusters: [
            {
              name: 'lab+north',
              resources: [
                {
                  GVK: { Group: '', Version: 'v1', Kind: 'ConfigMap' },
                  Name: 'cfg',
                  metadata: { name: 'cfg', namespace: 'obs' },
                  'rsync-status': 'Terminated',
                },
              ],
            },
          ],
        },
      ],
    });
  });
});

test('counts add up, whatever is kept', () => {
  const total = (counts: Counts = {}) => Object.values(counts).reduce<number>((sum, count) => sum + (count ?? 0), 0);
  const someGroups = fc.array(
    fc.record({
      app: fc.constantFrom('a', 'b'),
      cluster: fc.constantFrom('n', 's'),
      statuses: fc.array(fc.constantFrom(...RSYNC_STATUSES), { maxLength: 6 }),
    }),
    { maxLength: 6 },
  );
  const filters = fc.record({
    app: fc.subarray(['a', 'b']),
    cluster: fc.subarray(['lab+n', 'lab+s']),
    resource: fc.subarray(['r0', 'r1', 'r2']),
  });
  fc.assert(
    fc.property(someGroups, filters, fc.constantFrom('rsync', 'all'), (given, filter, type) => {
      const groups = given.map(({ app, cluster, statuses }) =>
        group(
          app,
          cluster,
          statuses.map((status, index) => resource('ConfigMap', `r${index}`, status)),
        ),
      );
      const counts = (output: string) =>
        ask({ ...filter, type: [type], output: [output] }, groups)['rsync-status'] as Counts | undefined;
      const whole = ask({ ...filter, type: [type] }, groups) as unknown as {
        apps?: { clusters: { resources: object[] }[] }[];
      };
      const kept = (whole.apps ?? []).flatMap(({ clusters }) => clusters.flatMap(({ resources }) => resources));
      expect(total(counts('summary'))).toBe(kept.length);
      const apps = (ask({ ...filter, type: [type], output: ['apps'] }, groups).apps ?? []) as {
        'rsync-status': Counts;
      }[];
      expect(
        addCounts(
          RSYNC_STATUSES,
          apps.map((app) => app['rsync-status']),
        ),
      ).toEqual(counts('summary') ?? {});
    }),
  );
  expect(countBy(['b', 'a'], ['a', 'c', 'a'])).toEqual({ a: 2 });
});
