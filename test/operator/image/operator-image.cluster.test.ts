/** An operator written for the reference whose image changed its base: on a cluster, with its Deployment, and by the chart. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { CustomResource } from '../../../domain/operator/custom-resource.ts';
import { type Db, openDatabase } from '../../../store/connection/database.ts';
import { migrate } from '../../../store/migrations/index.ts';
import { eventually } from '../../support/eventually.ts';
import { startRestrictedPod } from '../../support/kubernetes/cluster-pod.ts';
import {
  imageName,
  kubeconfigPath,
  kubectl,
  makeNamespace,
  type TestNamespace,
} from '../../support/kubernetes/dev-cluster.ts';
import { helm } from '../../support/kubernetes/helm.ts';
import { type ServersForPods, startServersForPods } from '../../support/kubernetes/servers-for-pods.ts';
import { conditionsOf } from '../../support/operator/operator-process.ts';
import { readMetrics } from '../../support/operator/read-metrics.ts';
import { ROOT } from '../../support/source-tree.ts';

const CHART = join(ROOT, 'deploy', 'chart', 'muster-operator');
/** On a machine that is busy with other suites pods and Ansible take their time. */
const SOON_MS = 180_000;
const TEST_MS = 600_000;
const GROUP = 'cache.example.com';
const FINALIZER = `${GROUP}/finalizer`;
const KIND = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `memcacheds.${GROUP}` },
  spec: {
    group: GROUP,
    names: { kind: 'Memcached', plural: 'memcacheds', singular: 'memcached', listKind: 'MemcachedList' },
    scope: 'Namespaced',
    versions: [
      {
        ...{ name: 'v1alpha1', served: true, storage: true, subresources: { status: {} } },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};
const all = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];
const RULES = [
  { apiGroups: [GROUP], resources: ['memcacheds', 'memcacheds/status', 'memcacheds/finalizers'], verbs: all },
  { apiGroups: [''], resources: ['secrets', 'configmaps', 'events'], verbs: all },
];

let namespace: TestNamespace;
let servers: ServersForPods;
let loginUrl: string;
let db: Db;

beforeAll(async () => {
  [namespace, servers] = await Promise.all([makeNamespace('m-o-image'), startServersForPods()]);
  await kubectl(['apply', '--filename', '-'], JSON.stringify(KIND));
  await kubectl(['wait', '--for', 'condition=established', '--timeout=180s', `crd/${KIND.metadata.name}`]);
  db = openDatabase({ url: servers.databaseUrl, name: 'operator-image' });
  await migrate(db);
  loginUrl = await makeLogin();
  await namespace.apply({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'database' } },
    stringData: { url: loginUrl },
  });
}, TEST_MS);

afterAll(async () => {
  // What is left of it has a finalizer, and nobody is there any more to take it away.
  await namespace?.kubectl(['delete', 'deployment', '--all', '--wait=true']).catch(() => '');
  for (const name of ['m1', 'm2', 'm3']) {
    await namespace
      ?.kubectl(['patch', 'memcached', name, '--type', 'merge', '--patch', '{"metadata":{"finalizers":null}}'])
      .catch(() => '');
  }
  await namespace?.remove();
  await kubectl(['delete', 'crd', KIND.metadata.name, '--ignore-not-found']);
  await db?.destroy();
  await servers?.stop();
}, TEST_MS);

/** A login of an operator's own, as an administrator makes it; returns its URL. */
async function makeLogin(): Promise<string> {
  await sql`create role muster_operator nologin`.execute(db);
  await sql`create role images login password 'secret' in role muster_operator`.execute(db);
  await sql`select muster_grant_operators()`.execute(db);
  const url = new URL(servers.databaseUrl);
  url.username = 'images';
  url.password = 'secret';
  return url.href;
}

/** The Deployment of the reference's scaffolding, with the two addresses. `uid`: the user that the cluster has chosen. */
function deployment(uid?: number): object[] {
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'controller-manager' } };
  const role = {
    ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'manager-role' } },
    rules: RULES,
  };
  const binding = {
    ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { name: 'manager-rolebinding' } },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'manager-role' },
    subjects: [{ kind: 'ServiceAccount', name: 'controller-manager' }],
  };
  const container = {
    name: 'manager',
    image: imageName('reference-operator'),
    imagePullPolicy: 'Never',
    args: [
      ...['--metrics-bind-address=:8443', '--health-probe-bind-address=:6789'],
      ...['--leader-elect', '--leader-election-id=memcached-operator'],
    ],
    env: [
      { name: 'ANSIBLE_GATHERING', value: 'explicit' },
      { name: 'WATCH_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
      { name: 'MUSTER_DATABASE_URL', valueFrom: { secretKeyRef: { name: 'database', key: 'url' } } },
      { name: 'MUSTER_TEMPORAL_ADDRESS', value: servers.temporalAddress },
    ],
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    livenessProbe: { httpGet: { path: '/healthz', port: 6789 }, initialDelaySeconds: 15, periodSeconds: 20 },
    readinessProbe: { httpGet: { path: '/readyz', port: 6789 }, initialDelaySeconds: 5, periodSeconds: 10 },
    resources: { limits: { cpu: '500m', memory: '768Mi' }, requests: { cpu: '10m', memory: '256Mi' } },
  };
  const labels = { 'control-plane': 'controller-manager' };
  return [
    ...[account, role, binding],
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'controller-manager', labels },
      spec: {
        selector: { matchLabels: labels },
        replicas: 1,
        template: {
          metadata: { labels, annotations: { 'kubectl.kubernetes.io/default-container': 'manager' } },
          spec: {
            securityContext: { runAsNonRoot: true, ...(uid === undefined ? {} : { runAsUser: uid }) },
            containers: [container],
            serviceAccountName: 'controller-manager',
            terminationGracePeriodSeconds: 10,
          },
        },
      },
    },
  ];
}

const memcached = (name: string, size: number, wait = 0) => ({
  ...{ apiVersion: `${GROUP}/v1alpha1`, kind: 'Memcached', metadata: { name }, spec: { size, wait } },
});
const read = async (name: string): Promise<CustomResource | null> => {
  const text = await namespace.kubectl(['get', 'memcached', name, '--ignore-not-found', '-o', 'json']);
  return text.trim() === '' ? null : JSON.parse(text);
};
const said = () => namespace.kubectl(['logs', 'deployment/controller-manager', '--tail=60']).catch(String);
const successful = (name: string) =>
  eventually(
    `${name} is successful`,
    async () => conditionsOf(await read(name)).find(({ type }) => type === 'Successful')?.status === 'True',
    SOON_MS,
    async () => ({ status: (await read(name))?.status, said: await said() }),
  );
const ready = (name: string) =>
  namespace.kubectl(['rollout', 'status', `deployment/${name}`, '--timeout=170s']).catch(async (error: Error) => {
    const pods = await namespace.kubectl(['describe', 'pods']);
    throw new Error(`${error.message}\n${pods.slice(-4_000)}\n${await said()}`);
  });

describe('the image', () => {
  test(
    'needs both addresses, and names the one that is missing',
    async () => {
      const run = (environment: Record<string, string>, command: string[]) =>
        startRestrictedPod(namespace, {
          ...{ image: imageName('reference-operator'), command, environment, writable: ['/tmp'] },
        }).then((pod) => pod.end());
      const [none, one, version] = await Promise.all([
        run({}, ['ansible-operator', 'run']),
        run({ MUSTER_DATABASE_URL: 'postgres://x' }, ['ansible-operator', 'run']),
        run({ HOME: '/tmp' }, ['sh', '-c', 'ansible-operator version && ansible-galaxy --version | head -1']),
      ]);
      expect(none).toMatchObject({ code: 2, output: expect.stringContaining('MUSTER_DATABASE_URL is not set') });
      expect(one).toMatchObject({ code: 2, output: expect.stringContaining('MUSTER_TEMPORAL_ADDRESS is not set') });
      expect(version).toMatchObject({ code: 0, output: expect.stringContaining('ansible-galaxy [core 2.19.') });
    },
    TEST_MS,
  );
});

describe('an operator that was written for the reference', () => {
  test(
    'reconciles its resources with its own Deployment',
    async () => {
      await namespace.apply(...deployment());
      await ready('controller-manager');
      expect((await namespace.kubectl(['exec', 'deployment/controller-manager', '--', 'id'])).trim()).toBe(
        'uid=1001(ansible) gid=0(root) groups=0(root)',
      );
      await namespace.apply(memcached('m1', 3));
      await successful('m1');
      const m1 = await read('m1');
      expect(m1?.metadata.finalizers).toEqual([FINALIZER]);
      expect(m1?.status).toMatchObject({ test: 'hello world' });
      const map = await namespace.read<{ data: object; metadata: { ownerReferences: object[] } }>(
        'configmaps/m1-memcached',
      );
      expect(map?.data).toEqual({ size: '3' });
      expect(map?.metadata.ownerReferences).toMatchObject([{ kind: 'Memcached', name: 'm1' }]);
      const [pod] = JSON.parse(
        await namespace.kubectl(['get', 'pods', '-l', 'control-plane=controller-manager', '-o', 'json']),
      ).items;
      const metrics = async () => await (await fetch(`http://${pod.status.podIP}:8443/metrics`)).text();
      expect(await metrics()).toContain('memcached_size 3');
      // The status of the resource comes first.
      const counted = `ansible_operator_reconciles_count{GVK="${GROUP}/v1alpha1, Kind=Memcached"} 1`;
      await eventually('the reconcile is counted', async () => (await metrics()).includes(counted), SOON_MS, metrics);
    },
    TEST_MS,
  );

  test(
    'whose pod is killed in a run: that run is interrupted, and another one ends',
    async () => {
      await namespace.apply(memcached('m3', 1, 600));
      await eventually('its run waits', () => namespace.read('configmaps/m3-memcached'), SOON_MS, said);
      // All processes of the pod but its first, which ends as well then.
      await namespace
        .kubectl(['exec', 'deployment/controller-manager', '--', 'sh', '-c', 'kill -9 -1'])
        .catch(() => '');
      await namespace.apply(memcached('m3', 2));
      await successful('m3');
      const outcomes = async () => {
        const records = await db
          .selectFrom('operator_reconciles as c')
          .innerJoin('operator_resources as r', 'r.id', 'c.resource_id')
          .select('c.outcome')
          .where('r.name', '=', 'm3')
          .orderBy('c.started_at')
          .execute();
        return records.map(({ outcome }) => outcome);
      };
      await eventually('nothing of it is open', async () => !(await outcomes()).includes(null), SOON_MS, said);
      const [first, ...others] = await outcomes();
      expect([first, [...new Set(others)]]).toEqual(['interrupted', ['ok']]);
      const running = conditionsOf(await read('m3')).find(({ type }) => type === 'Running');
      expect(running).toMatchObject({ reason: 'Successful', message: 'Awaiting next reconciliation' });
      expect(await namespace.read<object>('configmaps/m3-memcached')).toMatchObject({ data: { size: '2' } });
      await namespace.kubectl(['delete', 'memcached', 'm3', '--timeout=170s']);
    },
    TEST_MS,
  );

  test(
    'watches core Secrets by their labels, and nothing of them is told',
    async () => {
      const labels = { watched: 'yes' };
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's1', labels } };
      await namespace.apply({ ...secret, stringData: { word: 'much-of-a-secret' } });
      await eventually('the secret was seen', () => namespace.read('configmaps/s1-seen'), SOON_MS, said);
      expect(await namespace.read<object>('configmaps/s1-seen')).toMatchObject({ data: { keys: 'word' } });
      expect(await namespace.kubectl(['logs', 'deployment/controller-manager'])).not.toContain('much-of-a-secret');
    },
    TEST_MS,
  );

  test(
    'as another user of group 0, which has an entry of its own; its finalizer runs',
    async () => {
      await namespace.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm1-kept' } });
      await namespace.apply(...deployment(1_000_650_000));
      await ready('controller-manager');
      // The pod before it has ended by then, or ends.
      const id = await eventually(
        'the other user',
        async () => {
          const told = await namespace
            .kubectl(['exec', 'deployment/controller-manager', '--', 'id', '-un'])
            .catch(() => '');
          return told.trim() === 'operator' ? told.trim() : null;
        },
        SOON_MS,
      );
      expect(id).toBe('operator');
      await namespace.apply(memcached('m1', 4));
      await eventually(
        'the change is there',
        async () => (await namespace.read<{ data: { size: string } }>('configmaps/m1-memcached'))?.data.size === '4',
        SOON_MS,
        said,
      );
      await namespace.kubectl(['delete', 'memcached', 'm1', '--timeout=170s']);
      expect(await namespace.read('configmaps/m1-kept')).toBeNull();
      await namespace.kubectl(['delete', 'deployment', 'controller-manager', '--wait=true']);
    },
    TEST_MS,
  );
});

describe('the chart', () => {
  const values = (...more: string[]) => [
    ...['--set', `image.repository=${imageName('reference-operator').split(':')[0]}`],
    ...['--set', `image.tag=${imageName('reference-operator').split(':')[1]}`, '--set', 'image.pullPolicy=Never'],
    ...['--set', 'database.existingSecret=database', '--set', `temporal.address=${servers.temporalAddress}`],
    ...['--set-json', `rules=${JSON.stringify(RULES)}`, ...more],
  ];

  test('is well made, and asks for what it needs', async () => {
    await helm(['lint', '--strict', CHART, '--kube-version', '1.36.0', ...values()]);
    const rendered = (...more: string[]) =>
      helm(['template', 'x', CHART, '--kube-version', '1.36.0', ...values(...more)]);
    expect(await rendered()).toContain('kind: ClusterRole\n');
    for (const [missing, words] of [
      [['--set', 'image.repository='], 'image.repository: name the image'],
      [['--set-json', 'rules=[]'], 'rules: say what the operator may do'],
      [['--set', 'database.existingSecret='], 'database.existingSecret: name the Secret'],
      [['--set', 'temporal.address='], 'temporal.address: name'],
      [['--set', 'metrics.secure=false'], '/metrics/secure'],
      [['--set', 'metrics.secured=true'], "'secured' not allowed"],
    ] as const)
      await expect(rendered(...missing)).rejects.toThrow(words);
  });

  test(
    'gives rights in the watched namespaces alone, and metrics to accounts that may read them',
    async () => {
      const install = ['upgrade', '--install', 'shop', CHART, '--kubeconfig', kubeconfigPath()];
      const watch = ['--set', `watchNamespaces={${namespace.name}}`];
      await helm([...install, '--namespace', namespace.name, ...values(...watch)]);
      await ready('shop');
      const roles = await kubectl(['get', 'clusterroles', '-o', 'name']);
      expect(roles).not.toContain(namespace.name);
      await namespace.apply(memcached('m2', 1));
      await successful('m2');
      const metrics = async (token?: string) => {
        const [pod] = JSON.parse(
          await namespace.kubectl(['get', 'pods', '-l', 'app.kubernetes.io/instance=shop', '-o', 'json']),
        ).items;
        return readMetrics(8443, token, pod.status.podIP);
      };
      await namespace.kubectl(['create', 'serviceaccount', 'reader']);
      const token = (await namespace.kubectl(['create', 'token', 'reader'])).trim();
      expect([(await metrics()).status, (await metrics(token)).status]).toEqual([401, 403]);
      await namespace.kubectl(['delete', 'memcached', 'm2', '--timeout=170s']);
      await helm(['uninstall', 'shop', '--kubeconfig', kubeconfigPath(), '--namespace', namespace.name, '--wait']);
    },
    TEST_MS,
  );
});
