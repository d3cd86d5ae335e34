import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openClusterSeal } from '../../control/deployments/cluster-seal.ts';
import { keepProbing, probe } from '../../control/deployments/probe-clusters.ts';
import { putProvider } from '../../control/deployments/providers.ts';
import { registerCluster, rotateCluster } from '../../control/deployments/put-cluster.ts';
import { getCluster } from '../../control/deployments/read-clusters.ts';
import type { Waiting } from '../../control/deployments/wake-waiting.ts';
import type { VersionAnswer } from '../../domain/deployments/ports.ts';
import { openAddresses } from '../../drivers/member-clusters/addresses.ts';
import { openKubeconfigs } from '../../drivers/member-clusters/kubeconfig.ts';
import { takeDueClusters } from '../../store/deployments/cluster-probes.ts';
import { eventually } from '../support/eventually.ts';
import { createMemorySecretStore } from '../support/fakes/memory-secret-store.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { kubeconfigOf } from './cluster-fixtures.ts';

let database: TestDatabase;
let deps: Parameters<typeof keepProbing>[0] & { staleAfterMs: number };
let answer: VersionAnswer = { version: 'v1.34.1' };
let now = new Date('2031-03-04T08:00:00Z');
const woken: Waiting[] = [];
const by = { actor: 'token/root' };
const metadata = (name: string) => ({ name, description: '', userData1: '', userData2: '' });
const later = (seconds: number) => {
  now = new Date(now.getTime() + seconds * 1000);
};

beforeAll(async () => {
  database = await createTestDatabase();
  deps = {
    db: database.db,
    clusterSeal: openClusterSeal(database.db, createMemorySecretStore()),
    readKubeconfig: openKubeconfigs(openAddresses({ allowLoopback: true, networks: [], own: [] })),
    memberClusters: {
      readVersion: async () => answer,
      openMember: () => {
        throw new Error('a probe works with no objects');
      },
    },
    wake: async (waiting) => void woken.push(...waiting),
    log: { warn: () => undefined },
    clock: () => now,
    staleAfterMs: 60_000,
  };
  await putProvider(deps, by, { metadata: metadata('lab') });
  for (const name of ['north', 'south']) {
    await registerCluster(deps, by, 'lab', { metadata: metadata(name), kubeconfig: Buffer.from(kubeconfigOf()) });
  }
});
afterAll(() => database.close());

const take = () => takeDueClusters(database.db, now, new Date(now.getTime() + 20_000), 10);
const connectivity = async () => (await getCluster(deps, 'lab+north')).connectivity;

test('each cluster is taken by one of several workers at a time', async () => {
  const taken = (await Promise.all([take(), take(), take()])).flat();
  expect(taken.map(({ cluster }) => cluster).sort()).toEqual(['north', 'south']);
  expect(await take()).toEqual([]);
  later(20);
  expect(await take()).toHaveLength(2);
});

test('a cluster is reachable, then tried again, then unreachable, and its last state stays', async () => {
  later(60);
  const [north] = (await take()).filter(({ cluster }) => cluster === 'north');
  if (north === undefined) throw new Error('the probe is not due');
  expect(await connectivity()).toBe('Unreachable');
  await probe(deps, north);
  expect(await getCluster(deps, 'lab+north')).toMatchObject({
    connectivity: 'Reachable',
    version: 'v1.34.1',
    last_seen: now.toISOString(),
  });
  const seen = now.toISOString();
  answer = { noAnswer: 'connection', message: 'connect ECONNREFUSED' };
  later(30);
  await probe(deps, north);
  expect(await getCluster(deps, 'lab+north')).toMatchObject({
    connectivity: 'Retrying',
    reason: 'Unreachable',
    message: 'connect ECONNREFUSED',
  });
  later(31);
  expect(await getCluster(deps, 'lab+north')).toMatchObject({
    connectivity: 'Unreachable',
    version: 'v1.34.1',
    last_seen: seen,
  });
});

test('what is said of a former credential is not kept, and a new credential is probed at once', async () => {
  later(60);
  const [north] = (await take()).filter(({ cluster }) => cluster === 'north');
  if (north === undefined) throw new Error('the probe is not due');
  const given = { metadata: metadata('north'), kubeconfig: Buffer.from(kubeconfigOf({ token: 'hunter3' })) };
  await rotateCluster(deps, by, { provider: 'lab', cluster: 'north' }, given);
  answer = { refused: 'Unauthorized', message: '' };
  await probe(deps, north);
  expect((await getCluster(deps, 'lab+north')).reason).toBe('Unreachable');
  expect((await take()).map(({ cluster, revision }) => [cluster, Number(revision)])).toEqual([['north', 2]]);
});

test('the loop probes what is due, and ends', async () => {
  answer = { version: 'v1.35.0' };
  later(120);
  const stop = keepProbing(deps);
  await eventually('the probe', async () => (await getCluster(deps, 'lab+south')).version === 'v1.35.0');
  await stop();
  answer = { version: 'v1.36.0' };
  later(120);
  expect((await take()).length).toBe(2);
});
