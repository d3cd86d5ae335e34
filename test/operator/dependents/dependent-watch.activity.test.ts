/** Which changes of dependents are told, by a watch of a real API server (vectors E8 to E14). */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { DependentKind } from '../../../domain/operator/proxy-ports.ts';
import { openClusterAccess } from '../../../drivers/kubernetes/cluster-access.ts';
import { type ClusterClient, createClusterClient } from '../../../drivers/kubernetes/cluster-client.ts';
import {
  type DependentBooks,
  type DependentTold,
  watchDependents,
} from '../../../drivers/operator-watch/dependent-watch.ts';
import { eventually } from '../../support/eventually.ts';
import { type KubernetesApi, kubernetesMissing, startKubernetesApi } from '../../support/kubernetes/kubernetes-api.ts';
import { describeNeeding } from '../../support/requirement.ts';

/** Times of managed fields are whole seconds. */
const NEXT_SECOND_MS = 1_100;
const MERGE = 'application/merge-patch+json';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/ns1/deployments';
const owned = [{ apiVersion: 'demo.io/v1', kind: 'Widget', name: 'w1', uid: 'u1' }];
const annotated = (type: string) => ({
  'operator-sdk/primary-resource': 'ns1/w1',
  'operator-sdk/primary-resource-type': type,
});
const W1 = { namespace: 'ns1', name: 'w1' };

describeNeeding(kubernetesMissing(), 'a watch of dependents', () => {
  let api: KubernetesApi;
  let client: ClusterClient;
  let told: DependentTold[] = [];
  let states: (string | null)[] = [];
  const stop = new AbortController();
  const watches: Promise<void>[] = [];
  const signs = { note: () => undefined, forget: () => undefined };

  const send = (method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) =>
    client.ask({
      ...{ method, path, body, query: { fieldManager: 'meddler' } },
      ...(method === 'PATCH' ? { contentType: MERGE } : {}),
    });
  const deployment = (name: string, metadata: object) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, ...metadata },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  });
  const watch = (kind: DependentKind) => {
    const owners = { group: 'demo.io', kind: 'Widget', namespaced: true };
    const take = (one: DependentTold) => void told.push(one);
    const tellState = (reason: string | null) => void states.push(reason);
    watches.push(watchDependents({ kind, owners, namespaces: null, client, take, tellState, signs }, stop.signal));
  };
  /** What is told up to a change that is certainly told. */
  const toldBefore = async (mark: string) => {
    await send('PATCH', `${DEPLOYMENTS}/witness`, { metadata: { labels: { mark } } });
    await eventually('the witness is told', async () => told.some(({ object }) => object.endsWith('witness')));
    return told.filter(({ object }) => !object.endsWith('witness'));
  };

  beforeAll(async () => {
    api = await startKubernetesApi();
    client = createClusterClient(openClusterAccess(api.kubeconfig));
    for (const name of ['ns1', 'ns2']) {
      await send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    await send('POST', DEPLOYMENTS, deployment('witness', { ownerReferences: owned }));
    await send('POST', DEPLOYMENTS, deployment('listed', { ownerReferences: owned }));
    const maps = { group: '', version: 'v1', kind: 'ConfigMap', resource: 'configmaps', namespaced: true } as const;
    const apps = {
      group: 'apps',
      version: 'v1',
      kind: 'Deployment',
      resource: 'deployments',
      namespaced: true,
    } as const;
    watch({ ...apps, mark: 'owner_reference' });
    watch({ ...maps, mark: 'annotations' });
    await eventually('both are watched', () => states.filter((reason) => reason === null).length === 2);
  }, 600_000);

  afterAll(async () => {
    stop.abort();
    await Promise.all(watches);
    await api?.stop();
  });

  beforeEach(() => {
    told = [];
    states = [];
  });

  test('E8: one that is made is not told', async () => {
    await send('POST', DEPLOYMENTS, deployment('d1', { ownerReferences: owned }));
    expect(await toldBefore('e8')).toEqual([]);
  });

  test('E9, E11: one whose status changed, or the times of its fields, is not told; nor is one that was listed', async () => {
    const writeStatus = async (observedGeneration: number) => {
      for (const name of ['d1', 'listed']) {
        await send('PATCH', `${DEPLOYMENTS}/${name}/status`, { status: { observedGeneration } });
      }
    };
    // The first write of the status makes an entry in the managed fields, which is a change.
    await writeStatus(1);
    expect((await toldBefore('e9')).map(({ object }) => object)).toEqual([
      'Deployment ns1/d1',
      'Deployment ns1/listed',
    ]);
    await new Promise((resolve) => setTimeout(resolve, NEXT_SECOND_MS));
    told = [];
    await writeStatus(2);
    expect(await toldBefore('e11')).toEqual([]);
  });

  test('E10: one whose replicas changed is told, with its owner and who changed it', async () => {
    await send('PATCH', `${DEPLOYMENTS}/d1`, { spec: { replicas: 2 } });
    expect(await toldBefore('e10')).toEqual([{ object: 'Deployment ns1/d1', manager: 'meddler', owners: [W1] }]);
  });

  test('E12: one that is deleted is told', async () => {
    await send('DELETE', `${DEPLOYMENTS}/d1`);
    expect(await toldBefore('e12')).toEqual([{ object: 'Deployment ns1/d1', owners: [W1] }]);
  });

  test('E13, E14: annotations name the owner from another namespace; those of another kind do not', async () => {
    const maps = '/api/v1/namespaces/ns2/configmaps';
    const map = (name: string, metadata: object) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, ...metadata },
    });
    await send('POST', maps, map('ours', { annotations: annotated('Widget.demo.io') }));
    await send('POST', maps, map('others', { annotations: annotated('Other.demo.io') }));
    await send('POST', maps, map('owned', { ownerReferences: owned }));
    // The mark of another watch is no matter of this one.
    for (const name of ['others', 'owned', 'ours'])
      await send('PATCH', `${maps}/${name}`, { metadata: { labels: { a: 'b' } } });
    await eventually('ours is told', async () => told.length > 0);
    expect(told).toEqual([{ object: 'ConfigMap ns2/ours', manager: 'meddler', owners: [W1] }]);
  });

  test('what changed between two watches is told by the second, which knows what the first did', async () => {
    const kind = { group: '', version: 'v1', kind: 'ConfigMap', resource: 'configmaps', namespaced: true } as const;
    const books: DependentBooks = new Map();
    const seen: string[] = [];
    const follow = async (until: () => boolean) => {
      const over = new AbortController();
      let isListed = false;
      const following = watchDependents(
        {
          ...{ kind: { ...kind, mark: 'owner_reference' }, namespaces: null, client, books, signs },
          owners: { group: 'demo.io', kind: 'Widget', namespaced: true },
          take: ({ object, manager }) => void seen.push(`${object} ${manager}`),
          tellState: () => {
            isListed = true;
          },
        },
        over.signal,
      );
      await eventually('it is watched', () => isListed && until());
      over.abort();
      await following;
    };
    const maps = '/api/v1/namespaces/ns1/configmaps';
    for (const name of ['stays', 'changes', 'goes']) {
      const body = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, ownerReferences: owned },
        data: { a: '1' },
      };
      await send('POST', maps, body);
    }
    await follow(() => true);
    expect(seen).toEqual([]);
    await send('PATCH', `${maps}/changes`, { data: { a: '2' } });
    await send('DELETE', `${maps}/goes`);
    await follow(() => seen.length >= 2);
    expect(seen.sort()).toEqual(['ConfigMap ns1/changes meddler', 'ConfigMap ns1/goes undefined']);
    await follow(() => true);
    expect(seen).toHaveLength(2);
  });

  test('what changed while the API server was away is told when it is back', async () => {
    await send('DELETE', `${DEPLOYMENTS}/listed`);
    await eventually('it is told', async () => told.some(({ object }) => object === 'Deployment ns1/listed'));
    await api.kill();
    await eventually('the watch says so', async () => states.some((reason) => reason !== null), 60_000);
  });
});
