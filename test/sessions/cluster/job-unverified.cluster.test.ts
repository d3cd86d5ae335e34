import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { type ClusterProxy, openClusterProxy } from '../../support/kubernetes/cluster-proxy.ts';
import { makeNamespace, type TestNamespace } from '../../support/kubernetes/dev-cluster.ts';
import { jobSpec, scriptedJobs, smallSettings } from '../../support/kubernetes/scripted-jobs.ts';

const signal = new AbortController().signal;
/** What a runner may do but for the deletion of Jobs; nodes may not be read. */
const RULES = [
  { apiGroups: ['batch'], resources: ['jobs'], verbs: ['create', 'get', 'list', 'watch', 'patch'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['secrets'], verbs: ['create', 'get', 'update', 'patch', 'delete'] },
];
const DELETING = { apiGroups: ['batch'], resources: ['jobs'], verbs: ['delete'] };
/** Has to be killed. */
const DEAF = 'trap "" TERM; while true; do sleep 1; done';
/** Of a pod: which version of it its node has seen. */
interface Seen {
  metadata: { generation?: number };
  status: { observedGeneration?: number };
}

let namespace: TestNamespace;
let way: ClusterProxy;

const allow = (rules: object[]) =>
  namespace.apply({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'runner', namespace: namespace.name },
    rules,
  });

beforeAll(async () => {
  namespace = await makeNamespace('m-c-unverified');
  const named = { name: 'runner', namespace: namespace.name };
  await allow([...RULES, DELETING]);
  await namespace.apply(
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: named },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: named,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'runner' },
      subjects: [{ kind: 'ServiceAccount', ...named }],
    },
  );
  way = await openClusterProxy((await namespace.kubectl(['create', 'token', 'runner'])).trim());
});
afterAll(async () => {
  await way?.close();
  await namespace.remove();
});

async function running(ansible: string) {
  const { jobs } = scriptedJobs(smallSettings(namespace.name, { kubeconfig: way.kubeconfig }), { ansible });
  const spec = jobSpec();
  await jobs.start(spec, signal);
  await jobs.follow(
    spec.name,
    async ({ containers }) => containers.some(({ name, state }) => name === 'ansible' && state === 'running'),
    signal,
  );
  return { jobs, name: spec.name };
}

test('a node that is there and does not end a pod is not called away, though nodes may not be read', async () => {
  const { jobs, name } = await running(DEAF);
  // A time that has begun is not shortened: it goes on for longer than anybody who ends it waits.
  await namespace.kubectl([
    'delete',
    'pod',
    '-l',
    `batch.kubernetes.io/job-name=${name}`,
    '--grace-period=30',
    '--wait=false',
  ]);
  const pods = `pods?labelSelector=${encodeURIComponent(`batch.kubernetes.io/job-name=${name}`)}`;
  await eventually('the node has taken notice of it', async () => {
    const [pod] = (await namespace.read<{ items: Seen[] }>(pods))?.items ?? [];
    return (pod?.status.observedGeneration ?? 0) >= (pod?.metadata.generation ?? Number.NaN);
  });
  expect((await jobs.end(name, 4_000)).unverified).toMatch(/^node \S+ has not ended its containers$/);
  const ending = await jobs.end(name, 60_000);
  expect(ending.unverified).toBeNull();
  expect(ending.view.containers.find((container) => container.name === 'ansible')?.exitCode).toBe(137);
  await jobs.release(name);
});

test('a Job that may not be deleted is not verified, in the words of the cluster; its containers are ended all the same', async () => {
  const { jobs, name } = await running('trap "exit 9" TERM; sleep 600 & wait');
  await allow(RULES);
  const refused = await jobs.end(name, 60_000);
  expect(refused.unverified).toMatch(/^the cluster refuses: jobs.batch "\S+" is forbidden: .*cannot delete resource/);
  expect(refused.view.containers.map(({ state }) => state)).toEqual(['terminated', 'terminated', 'terminated']);
  await allow([...RULES, DELETING]);
  await eventually('it may be deleted', async () => (await jobs.end(name, 5_000)).unverified === null);
  await jobs.release(name);
  await eventually(
    'nothing is left',
    async () => !(await namespace.names('jobs', 'pods', 'secrets')).join().includes(name),
  );
});
