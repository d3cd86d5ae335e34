import { expect, test } from '@jest/globals';
import type { ClusterClient, ClusterRequest } from '../../../drivers/kubernetes/cluster-client.ts';
import { clusterPaths } from '../../../drivers/kubernetes-runner/cluster-paths.ts';
import { encoded } from '../../../drivers/kubernetes-runner/secret-values.ts';
import { updateSecret } from '../../../drivers/kubernetes-runner/update-secret.ts';

/** Kubernetes with one Secret, which `meanwhile` changes once between a look at it and the first patch. */
function cluster(values: Record<string, string>, meanwhile?: Record<string, string>) {
  let stored = values;
  let version = 1;
  let other = meanwhile;
  const done: string[] = [];
  const patch = (body: { metadata: { resourceVersion?: string }; data: Record<string, string> }) => {
    if (other !== undefined) {
      [stored, other, version] = [{ ...stored, ...other }, undefined, version + 1];
    }
    if (body.metadata.resourceVersion !== String(version)) return { status: 409, body: {} };
    const changes = Object.entries(body.data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]);
    [stored, version] = [{ ...stored, ...Object.fromEntries(changes) }, version + 1];
    return { status: 200, body: { metadata: { resourceVersion: String(version) } } };
  };
  const answer = ({ method, path, body }: ClusterRequest): unknown => {
    done.push(`${method} ${path.split('/').slice(-2).join('/')}`);
    if (path.includes('/secrets/') && method === 'PATCH') return patch(body as Parameters<typeof patch>[0]);
    if (path.includes('/secrets/')) {
      return { status: 200, body: { metadata: { resourceVersion: String(version) }, data: encoded(stored) } };
    }
    return { status: 200, body: { items: [{ metadata: { name: 'pod' } }] } };
  };
  const client = { ask: async (request: ClusterRequest) => answer(request) } as unknown as ClusterClient;
  const update = (change: (now: Record<string, string>) => Record<string, string>) =>
    updateSecret(client, clusterPaths('n'), 'job', change);
  return { done, update, stored: () => stored };
}

test('nothing is sent where nothing changes', async () => {
  const { done, update } = cluster({ a: '1' });
  expect(await update(() => ({}))).toEqual({ a: '1' });
  expect(done).toEqual(['GET secrets/job']);
});

test('keys that change are sent, and the pod is marked', async () => {
  const { done, update, stored } = cluster({ a: '1', b: '1' });
  expect(await update(({ a }) => ({ a: `${a}2` }))).toEqual({ a: '12', b: '1' });
  expect(stored()).toEqual({ a: '12', b: '1' });
  expect(done).toEqual(['GET secrets/job', 'PATCH secrets/job', 'GET n/pods', 'PATCH pods/pod']);
});

test('what somebody else has changed meanwhile counts', async () => {
  const { update, stored } = cluster({ a: '1' }, { a: '2' });
  expect(await update(({ a }) => ({ a: `${a}3` }))).toEqual({ a: '23' });
  expect(stored()).toEqual({ a: '23' });
});
