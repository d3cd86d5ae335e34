/**
 * Applications on a real API server with controllers and a node, through the whole stack. The cluster of the tests is registered under two names, each
 * with a way of its own that can be cut; no object goes there by both names.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as rest } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { type ClusterProxy, openClusterProxy } from '../support/kubernetes/cluster-proxy.ts';
import { imageName, kubectl, makeNamespace, type TestNamespace } from '../support/kubernetes/dev-cluster.ts';
import { type MusterStack, startMusterStack } from '../support/stack/muster-stack.ts';
import { type MemberWalk, openMemberWalk } from './member-walk.ts';

const LABEL = 'emco/deployment-id';
const run = randomBytes(3).toString('hex');
const group = `w${run}.example.com`;
let stack: MusterStack;
let north: ClusterProxy;
let south: ClusterProxy;
let space: TestNamespace;
let walk: MemberWalk;

beforeAll(async () => {
  space = await makeNamespace('muster-apps');
  north = await openClusterProxy();
  south = await openClusterProxy();
  stack = await startMusterStack({ MUSTER_DEPLOY_ALLOW_LOOPBACK: '1', MUSTER_DEPLOY_STALE_AFTER_SECONDS: '10' });
  walk = openMemberWalk(stack);
}, 600_000);

afterAll(async () => {
  await stack?.remove();
  await kubectl(['delete', 'crd', `things.${group}`, '--ignore-not-found', '--wait=false']);
  await north?.close();
  await south?.close();
  await space?.remove();
}, 360_000);

/** Objects of a deployment in the namespace, by kind and name; the label also reaches what controllers make of them. */
const labelled = async () =>
  (await space.kubectl(['get', 'configmap,service,deployment,secret', '-l', LABEL, '-o', 'name'])).trim();
const uidOf = (what: string) => space.kubectl(['get', what, '-o', 'jsonpath={.metadata.uid}']);

const config = (name: string) => `
apiVersion: v1
kind: ConfigMap
metadata: {name: ${name}}
data: {color: blue}
`;
const agent = (name: string) => `${config(name)}---
apiVersion: v1
kind: Service
metadata: {name: ${name}}
spec: {ports: [{port: 80}], selector: {app: agent}}
`;
const store = () => `
apiVersion: ${group}/v1
kind: Thing
metadata: {name: one}
spec: {size: 3}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.${group}}
spec:
  group: ${group}
  scope: Namespaced
  names: {plural: things, kind: Thing, singular: thing}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: v1
kind: Secret
metadata: {name: keys}
stringData: {password: hunter7}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: store}
spec:
  replicas: 1
  selector: {matchLabels: {app: store}}
  template:
    metadata: {labels: {app: store}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
        - {name: main, image: '${imageName('util')}', imagePullPolicy: Never, command: [sleep, '3600']}
`;

test('two apps go to a cluster with pods that run and a kind of their own, and come off it again', async () => {
  const apps = { agent: agent('agent'), store: store() };
  const made = await walk.approved(`plain-${run}`, { north }, { apps, namespace: space.name });
  await walk.ask(made.group, 'instantiate');
  expect(await walk.until(made.group, 'Instantiated')).toEqual({ status: 'Instantiated', Applied: 6 });
  await space.kubectl(['wait', 'deployment/store', '--for=condition=Available', '--timeout=180s']);
  expect(await space.kubectl(['get', 'pods', '-l', LABEL, '-o', 'jsonpath={.items[*].status.phase}'])).toBe('Running');
  expect(await space.kubectl(['get', `things.${group}`, '-o', 'name'])).toBe(`thing.${group}/one\n`);
  const password = await space.kubectl(['get', 'secret', 'keys', '-o', 'jsonpath={.data.password}']);
  expect(Buffer.from(password, 'base64').toString()).toBe('hunter7');
  // The pod is there beside the six, and what controllers make besides is not shown.
  await walk.untilThere(made.group, { there: { Present: 7 }, ready: { Ready: 7 }, isReady: true });
  await space.kubectl(['delete', 'configmap', 'agent']);
  await walk.untilThere(made.group, {
    there: { NotPresent: 1, Present: 6 },
    ready: { Ready: 6, NotReady: 1 },
    isReady: false,
  });
  const kept = await stack.sql<{ object: string }>('select object from cluster_objects', []);
  expect(JSON.stringify(kept)).not.toContain(password);
  await walk.ask(made.group, 'terminate');
  expect(await walk.until(made.group, 'Terminated')).toEqual({ status: 'Terminated', Deleted: 6 });
  await eventually('nothing is left', async () => (await labelled()) === '', 180_000, labelled);
  expect((await walk.send('DELETE', `${made.group}?cascade=true`)).status).toBe(204);
}, 480_000);

test('a cluster that is away is waited for in both phases, also by another worker; each object is made once', async () => {
  const app = { apps: { agent: agent('away') }, namespace: space.name };
  const made = await walk.approved(`away-${run}`, { south }, app);
  await south.cut();
  await walk.ask(made.group, 'instantiate');
  const isRetrying = async () => (await walk.status(made.group)).Retrying === 2;
  await eventually('both are Retrying', isRetrying, 180_000, () => walk.status(made.group));
  await stack.kill('worker');
  await south.mend();
  expect(await walk.until(made.group, 'Instantiated')).toEqual({ status: 'Instantiated', Applied: 2 });
  const uid = await uidOf('configmap/away');

  await south.cut();
  await walk.ask(made.group, 'terminate');
  await eventually('both are Retrying', isRetrying, 180_000, () => walk.status(made.group));
  expect((await walk.send('DELETE', made.group)).body.code).toBe('context_busy');
  await walk.ask(made.group, 'stop');
  expect(await walk.until(made.group, 'TerminateFailed')).toEqual({ status: 'TerminateFailed', Failed: 2 });
  await south.mend();
  expect(await uidOf('configmap/away')).toBe(uid);
  await walk.ask(made.group, 'terminate');
  expect(await walk.until(made.group, 'Terminated')).toEqual({ status: 'Terminated', Deleted: 2 });
  expect(await labelled()).toBe('');
}, 480_000);

test('a connection that breaks in the middle of calls is no failure, and a terminate in the middle leaves nothing', async () => {
  const many = Array.from({ length: 40 }, (_, n) => config(`many-${n}`)).join('---');
  const made = await walk.approved(`cut-${run}`, { south }, { apps: { agent: many }, namespace: space.name });
  await walk.ask(made.group, 'instantiate');
  const hasBegun = async () => ((await walk.status(made.group)).Applied as number) > 0;
  await eventually('some are Applied', hasBegun, 180_000, () => walk.status(made.group));
  await south.cut();
  await rest(1_500);
  await south.mend();
  await stack.kill('worker');
  await walk.ask(made.group, 'terminate');
  // An apply of the worker that was killed may still arrive: it is waited for.
  expect(await walk.until(made.group, 'Terminated')).toEqual({ status: 'Terminated', Deleted: 40 });
  expect(await labelled()).toBe('');
}, 480_000);

test('a container that ends again and again is named, and a cluster that is away never looks ready', async () => {
  const broken = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: broken}
spec:
  selector: {matchLabels: {app: broken}}
  template:
    metadata: {labels: {app: broken}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
        - {name: main, image: '${imageName('util')}', imagePullPolicy: Never, command: ['false']}
`;
  const app = { apps: { good: config('good'), broken }, namespace: space.name };
  const made = await walk.approved(`broken-${run}`, { south }, app);
  await walk.ask(made.group, 'instantiate');
  await walk.until(made.group, 'Instantiated');
  const shown = async () => {
    const { body } = await walk.send('GET', `${made.group}/status?type=all&resource=broken`);
    return body.apps?.[0]?.clusters[0].resources[0];
  };
  // While it runs for a moment in between, it has another reason.
  const isNamed = async () => {
    const { reason, message } = (await shown()) ?? {};
    const named = /^pod broken-.*, container main: (CrashLoopBackOff|Error).*last ended with 1/.exec(message ?? '');
    return named !== null && named[1] === reason;
  };
  await eventually('the container is named', isNamed, 180_000, shown);

  await walk.untilThere(made.group, { there: { Present: 3 }, ready: { Ready: 1, NotReady: 2 }, isReady: false });
  await south.cut();
  await walk.untilThere(made.group, { there: { Present: 3 }, ready: { Unknown: 3 }, isReady: false });
  await south.mend();
  await walk.untilThere(made.group, { there: { Present: 3 }, ready: { Ready: 1, NotReady: 2 }, isReady: false });
  await walk.ask(made.group, 'terminate');
  expect(await walk.until(made.group, 'Terminated')).toEqual({ status: 'Terminated', Deleted: 2 });
}, 600_000);

test('a field that its kind does not know is refused, with the reason', async () => {
  const bad = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: bad}
spec: {replicas: 2, selector: {matchLabels: {app: b}}, template: {metadata: {labels: {app: b}}, spec: {containers: [{name: a, image: x}]}}}
`;
  const app = { apps: { agent: agent('good'), bad }, namespace: space.name };
  const made = await walk.approved(`bad-${run}`, { north }, app);
  await walk.ask(made.group, 'instantiate');
  expect(await walk.until(made.group, 'InstantiateFailed')).toMatchObject({ Applied: 2, Failed: 1 });
  expect(await walk.reasons(made.group)).toMatchObject({ 'bad+DaemonSet': 'Failed UnknownField' });
  await walk.ask(made.group, 'terminate');
  expect(await walk.until(made.group, 'Terminated')).toEqual({ status: 'Terminated', Deleted: 3 });
}, 360_000);

test('what was there before is left, and a former object that a finalizer holds is waited for', async () => {
  await space.kubectl(['create', 'configmap', 'kept', '--from-literal=a=b']);
  const kept = await uidOf('configmap/kept');
  const app = { apps: { keep: config('kept'), held: config('held') }, namespace: space.name };
  const made = await walk.approved(`held-${run}`, { north }, app);
  await walk.ask(made.group, 'instantiate');
  await walk.until(made.group, 'Instantiated');
  const first = await uidOf('configmap/held');
  const finalizers = (names: string[]) =>
    space.kubectl([
      'patch',
      'configmap',
      'held',
      '--type=merge',
      '-p',
      JSON.stringify({ metadata: { finalizers: names } }),
    ]);
  await finalizers(['example.com/hold']);
  await walk.ask(made.group, 'terminate');
  await walk.until(made.group, 'Terminated');
  expect(await walk.reasons(made.group)).toMatchObject({ 'kept+ConfigMap': 'Deleted Released' });
  expect(await uidOf('configmap/kept')).toBe(kept);
  expect(await space.kubectl(['get', 'configmap', 'kept', '--show-labels', '--no-headers'])).not.toContain(LABEL);

  await walk.ask(made.group, 'approve');
  await walk.ask(made.group, 'instantiate');
  const isHeld = async () => (await walk.reasons(made.group))['held+ConfigMap'] === 'Retrying BeingDeleted';
  await eventually('the former object is waited for', isHeld, 180_000, () => walk.reasons(made.group));
  await finalizers([]);
  expect(await walk.until(made.group, 'Instantiated')).toEqual({ status: 'Instantiated', Applied: 2 });
  expect(await uidOf('configmap/held')).not.toBe(first);
  await walk.ask(made.group, 'terminate');
  await walk.until(made.group, 'Terminated');
  expect(await uidOf('configmap/kept')).toBe(kept);
}, 360_000);
