/** A cluster that does not let Muster delete what a session has left. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type ClusterClient, createClusterClient } from '../../../drivers/kubernetes/cluster-client.ts';
import { clusterPaths } from '../../../drivers/kubernetes-runner/cluster-paths.ts';
import { endJob } from '../../../drivers/kubernetes-runner/end-job.ts';
import { LABELS } from '../../../drivers/kubernetes-runner/objects.ts';

const paths = clusterPaths('runs');
const DENIED = 'admission webhook "keep.test" denied the request: not in working hours';

let server: Server;
let client: ClusterClient;
/** What is asked to be deleted, and with which status each deletion is refused; other requests are answered. */
let deletions: string[];
let refuses: (path: string) => number | null;
let podRuns: boolean;
let readsSecrets: boolean;

beforeEach(async () => {
  deletions = [];
  podRuns = true;
  readsSecrets = true;
  refuses = () => null;
  const labels = { [LABELS.managedBy]: 'muster', [LABELS.session]: 's' };
  const job = { metadata: { name: 'a', labels }, spec: {}, status: { active: 1 } };
  const pod = () => ({
    metadata: { name: 'a-x', labels: { ...labels, [LABELS.job]: 'a' } },
    spec: { nodeName: 'n', containers: [{ name: 'ansible' }] },
    status: { phase: podRuns ? 'Running' : 'Failed' },
  });
  server = createServer(({ method, url = '' }, response) => {
    const path = url.replace(/\?.*/, '');
    const say = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
    if (method === 'GET' && path === paths.secret('a') && !readsSecrets) return say(403, { reason: 'Forbidden' });
    if (method !== 'DELETE') return say(200, path === paths.pods ? { items: [pod()] } : job);
    deletions.push(path);
    const status = refuses(path);
    if (status !== null) return say(status, { message: DENIED });
    if (path === paths.pod('a-x')) podRuns = false;
    return say(200, {});
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  client = createClusterClient({
    read: async () => ({ server: new URL(`http://127.0.0.1:${port}`), options: {} }),
    forget: () => undefined,
  });
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const end = (patienceMs: number) => endJob(client, paths, { for: async () => null }, { name: 'a' }, patienceMs);

test.each([400, 403, 422])(
  'a Job whose deletion is refused with %i is told of, and its pods are ended',
  async (status) => {
    refuses = (path) => (path === paths.job('a') ? status : null);
    expect(await end(60_000)).toMatchObject({ unverified: `the cluster refuses: ${DENIED}` });
    expect(podRuns).toBe(false);
  },
);

test.each([400, 403, 422])('so is a pod whose deletion is refused with %i', async (status) => {
  refuses = (path) => (path === paths.pod('a-x') ? status : null);
  expect(await end(100)).toMatchObject({ unverified: `the cluster refuses: ${DENIED}` });
  expect(deletions).toEqual([paths.job('a'), paths.pod('a-x'), paths.secret('a')]);
});

test('a Secret that may not be read is left to go with its Job', async () => {
  readsSecrets = false;
  expect(await end(60_000)).toMatchObject({ unverified: null });
  expect(deletions).toEqual([paths.job('a'), paths.pod('a-x')]);
});
