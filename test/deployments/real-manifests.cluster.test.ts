/** What real API servers do with real manifests, whose objects they are, and a walk through all of it by the command line. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { type ClusterProxy, openClusterProxy } from '../support/kubernetes/cluster-proxy.ts';
import { imageName, makeNamespace, type TestNamespace } from '../support/kubernetes/dev-cluster.ts';
import { AGENT, config, LABEL, MEMBERS, type MemberName, type MemberSite, openMemberSite } from './member-site.ts';

const SECRET = 'hunter7-of-the-walk';
let site: MemberSite;
let node: ClusterProxy;
let space: TestNamespace;

beforeAll(async () => {
  space = await makeNamespace('muster-walk');
  node = await openClusterProxy();
  site = await openMemberSite({ MUSTER_DEPLOY_STALE_AFTER_SECONDS: '10' });
}, 600_000);
afterAll(async () => {
  await site?.remove();
  await node?.close();
  await space?.remove();
}, 360_000);

const on = (name: MemberName) => ({ all_of: [{ provider: 'lab', cluster: name }] });
const isGone = async (member: MemberName, path: string) => (await site.members[member].ask('GET', path)).status === 404;
const finalizers = (member: MemberName, path: string, names: string[]) =>
  site.members[member].ask('PATCH', path, { metadata: { finalizers: names } }, 'application/merge-patch+json');
async function metadataOf(member: MemberName, path: string) {
  const { status, body } = await site.members[member].ask('GET', path);
  if (status !== 200) throw new Error(`${path}: ${status}`);
  return body.metadata as { uid: string; labels?: Record<string, string> };
}
async function nothingIsLeft() {
  for (const member of MEMBERS) expect(await site.labelled(member)).toEqual([]);
}

test('a Namespace goes with its content, and one that a finalizer holds is waited for by the next instance', async () => {
  const manifests = `
apiVersion: v1
kind: ConfigMap
metadata: {name: inner, namespace: made-here}
---
apiVersion: v1
kind: Namespace
metadata: {name: made-here}
`;
  const [inner, outer] = ['/api/v1/namespaces/made-here/configmaps/inner', '/api/v1/namespaces/made-here'];
  await site.apply(await site.document('holder', [{ name: 'a', manifests, placement: on('north') }]), '--wait');
  const first = await metadataOf('north', outer);
  await finalizers('north', inner, ['example.com/hold']);
  await site.muster(['deployment', 'terminate', 'holder', '--wait']);
  await site.muster(['deployment', 'approve', 'holder']);
  await site.muster(['deployment', 'instantiate', 'holder']);
  const isHeld = async () =>
    /^Retrying BeingDeleted/.test((await site.resources('holder'))['a north Namespace made-here'] ?? '');
  await eventually('the Namespace is waited for', isHeld, 180_000, () => site.resources('holder'));
  await finalizers('north', inner, []);
  expect(await site.until('holder', 'Instantiated')).toEqual({ status: 'Instantiated', Applied: 2 });
  expect((await metadataOf('north', outer)).uid).not.toBe(first.uid);
  await site.muster(['deployment', 'delete', 'holder', '--wait']);
  await eventually('the Namespace is gone', () => isGone('north', outer), 180_000);
}, 480_000);

test('a port that is taken, and versions that are not served any more, are refused with the reason', async () => {
  const port = (name: string) => `
apiVersion: v1
kind: Service
metadata: {name: ${name}}
spec: {type: NodePort, selector: {app: a}, ports: [{port: 80, nodePort: 30123}]}
---
`;
  const old = (version: string, kind: string) => `${config('first')}
apiVersion: ${version}
kind: ${kind}
metadata: {name: old}
spec: {}
`;
  const apps = [
    { name: 'ports', manifests: port('one') + port('two'), placement: on('south') },
    { name: 'cron', manifests: old('batch/v1beta1', 'CronJob'), placement: on('south') },
    { name: 'ingress', manifests: old('extensions/v1beta1', 'Ingress'), placement: on('west') },
  ];
  await site.apply(await site.document('refused', apps));
  expect(await site.until('refused', 'InstantiateFailed')).toMatchObject({ Applied: 3, Failed: 3 });
  expect(await site.resources('refused')).toMatchObject({
    'ports south Service one': 'Applied',
    'ports south Service two': 'Failed Invalid',
    'cron south CronJob old': 'Failed NotFound',
    'ingress west Ingress old': 'Failed NotFound',
  });
  const { out } = await site.muster(['deployment', 'explain', 'refused']);
  expect(out).toContain('provided port is already allocated');
  expect(out).toContain('the cluster serves no CronJob in batch/v1beta1');
  await site.muster(['deployment', 'delete', 'refused', '--wait']);
  await nothingIsLeft();
}, 360_000);

test('an object that was taken over, or made anew by hand, is never deleted (vectors 39, 44)', async () => {
  const app = (name: string) => [{ name, manifests: config('shared') + config(`own-${name}`), placement: on('west') }];
  const one = await site.document('first-owner', app('a'));
  const two = { ...(await site.document('second-owner', app('b'))), namespace: 'first-owner' };
  const shared = '/api/v1/namespaces/first-owner/configmaps/shared';
  await site.apply(one, '--wait');
  const { uid } = await metadataOf('west', shared);
  await site.apply(two, '--wait');
  expect(await site.resources('second-owner')).toMatchObject({ 'b west ConfigMap shared': 'Applied TakenOver' });
  const seen = async () => (await site.resources('first-owner', 'type=all'))['a west ConfigMap shared'];
  await eventually(
    'the first owner sees it',
    async () => (await seen()) === 'Applied NotPresent NotReady NotOwned',
    180_000,
    seen,
  );
  await site.muster(['deployment', 'terminate', 'first-owner', '--wait']);
  expect(await site.resources('first-owner')).toMatchObject({ 'a west ConfigMap shared': 'Deleted NotOwned' });
  expect((await metadataOf('west', shared)).uid).toBe(uid);

  const made = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shared' } };
  await site.members.west.ask('DELETE', shared);
  expect((await site.members.west.ask('POST', '/api/v1/namespaces/first-owner/configmaps', made)).status).toBe(201);
  await site.muster(['deployment', 'delete', 'second-owner', '--wait']);
  expect((await metadataOf('west', shared)).labels).toBeUndefined();
  await site.muster(['deployment', 'delete', 'first-owner', '--wait']);
  await nothingIsLeft();
}, 360_000);

test('a kind that may not be watched is unknown, and the others are seen', async () => {
  const { south } = site.members;
  const forbidden = { answer: 403, reason: 'Forbidden' };
  south.fault(({ method, path }) => (method === 'GET' && path === '/apis/apps/v1/daemonsets' ? forbidden : undefined));
  await site.apply(await site.document('unseen', [{ ...AGENT, placement: on('south') }]), '--wait');
  const seen = () => site.resources('unseen', 'type=all');
  const isSo = async () => {
    const words = await seen();
    const isUnknown = words['agent south DaemonSet agent']?.startsWith('Applied Unknown Unknown') === true;
    return isUnknown && words['agent south ConfigMap cfg'] === 'Applied Present Ready';
  };
  await eventually('the others are seen', isSo, 180_000, seen);
  south.fault(() => undefined);
  await site.muster(['deployment', 'delete', 'unseen', '--wait']);
  await nothingIsLeft();
}, 360_000);

test('labels place apps on clusters of which one is away and one refuses; all of it comes, and goes away again', async () => {
  const { north, south, west } = site.members;
  const kubeconfig = await readFile(node.kubeconfig, 'utf8');
  await site.muster(['cluster', 'add', 'node', '--provider', 'lab', '-f', '-', '--label', 'core'], {
    stdin: kubeconfig,
  });
  const manifests = `${AGENT.manifests}
apiVersion: v1
kind: Secret
metadata: {name: keys}
stringData: {password: ${SECRET}}
`;
  const worker = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: worker, labels: {${LABEL}: 1-mine}}
spec:
  selector: {matchLabels: {app: worker}}
  template:
    metadata: {labels: {app: worker}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: main, image: '${imageName('util')}', imagePullPolicy: Never, command: [sleep, '3600']}]
`;
  const document = await site.document(space.name, [
    {
      name: 'agent',
      manifests,
      placement: {
        all_of: [
          { provider: 'lab', label: 'edge' },
          { provider: 'lab', label: 'far' },
        ],
      },
    },
    { name: 'worker', manifests: worker, placement: { any_of: [{ provider: 'lab', label: 'core' }] } },
  ]);
  const name = space.name;
  await south.cut();
  const refusal = { answer: 422, reason: 'Invalid', message: 'no such port' };
  west.fault(({ method, path }) => (method === 'PATCH' && path.endsWith('/services/agent') ? refusal : undefined));
  await site.apply(document);
  await site.untilCounts(name, { status: 'Instantiating', Applied: 7, Failed: 1, Pending: 1, Retrying: 4 });
  const away = await site.muster(['deployment', 'status', name, '--cluster', 'lab+south', '-o', 'tsv']);
  expect(away.out.trim().split('\n')).toHaveLength(5);
  expect(away.out).not.toContain('north');
  const explained = (await site.muster(['deployment', 'explain', name])).out;
  expect(explained).toContain('no such port');
  expect(explained).toMatch(/agent lab\+south .*Retrying/);

  // The cluster is back: what can be done is done, and the refusal remains.
  await south.mend();
  expect(await site.until(name, 'InstantiateFailed')).toMatchObject({ Applied: 11, Failed: 1, Pending: 1 });
  const ready = async () => (await site.resources(name, 'type=all&app=worker'))['worker node Deployment worker'];
  await eventually('the pod is ready', async () => (await ready()) === 'Applied Present Ready', 180_000, ready);
  west.fault(() => undefined);
  await site.muster(['deployment', 'terminate', name, '--wait']);
  expect(await site.status(name)).toEqual({ status: 'Terminated', Deleted: 13 });

  // A second instance, which is stopped while a cluster is away, and a third.
  await north.cut();
  await site.muster(['deployment', 'approve', name]);
  await site.muster(['deployment', 'instantiate', name]);
  await site.untilCounts(name, { status: 'Instantiating', Applied: 9, Retrying: 4 });
  await site.muster(['deployment', 'stop', name, '--wait'], { exit: 1 });
  expect(await site.status(name)).toEqual({ status: 'InstantiateFailed', Applied: 9, Failed: 4 });
  await north.mend();
  await site.muster(['deployment', 'terminate', name, '--wait']);
  await site.muster(['deployment', 'approve', name]);
  await site.muster(['deployment', 'instantiate', name, '--wait']);
  expect(await site.status(name)).toEqual({ status: 'Instantiated', Applied: 13 });

  // No value of the Secret is in an answer, a log or a history.
  const answers = [
    await site.stack.call('GET', `/api/v1/deployments/${name}/status?output=detail`),
    await site.stack.call('GET', `/api/v1/deployments/${name}/status?type=all&output=detail`),
    await site.stack.call('GET', `/api/v1/deployments/${name}/status?format=legacy&output=detail`),
    await site.stack.call('GET', `/api/v1/deployments/${name}/events?limit=1000`),
    await site.stack.call('GET', '/api/v1/audit'),
  ];
  for (const { status } of answers) expect(status).toBe(200);
  expect(JSON.stringify(answers)).toContain('"***"');
  const [{ instance = '' } = {}] = await site.stack.sql<{ instance: string }>(
    'select id as instance from deployment_contexts where cloud <> $1 order by created_at desc limit 1',
    [''],
  );
  const history = await site.stack.temporal((client) =>
    client.workflow.getHandle(`appcontext/${instance}`).fetchHistory(),
  );
  const logs = await Promise.all(
    ['api', 'worker'].map((part) => readFile(`${site.stack.dataDir}/logs/${part}.log`, 'utf8')),
  );
  for (const text of [JSON.stringify(answers), JSON.stringify(history), ...logs]) {
    expect(text.includes(SECRET) || text.includes(Buffer.from(SECRET).toString('base64'))).toBe(false);
  }
  await site.muster(['deployment', 'delete', name, '--wait']);
  await nothingIsLeft();
  const left = await space.kubectl(['get', 'deployment,configmap,secret,service', '-l', LABEL, '-o', 'name']);
  expect(left.trim()).toBe('');
  for (const cluster of ['node', ...MEMBERS]) await site.muster(['cluster', 'delete', `lab+${cluster}`]);
}, 800_000);
