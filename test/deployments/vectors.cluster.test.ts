/** Vectors of the description on real API servers whose calls meet faults. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import type { MemberCall, MemberFault } from '../support/kubernetes/member-proxy.ts';
import { named } from './cluster-fixtures.ts';
import { AGENT, config, type MemberSite, openMemberSite, STORE } from './member-site.ts';

let site: MemberSite;
beforeAll(async () => {
  site = await openMemberSite();
}, 600_000);
afterAll(() => site?.remove(), 360_000);
afterEach(async () => {
  for (const member of Object.values(site.members)) {
    member.fault(() => undefined);
    await member.mend();
  }
});

const ordered = [AGENT, { ...STORE, depends_on: ['agent'] }];
const all = (words: Record<string, string>, part: string) =>
  Object.entries(words).flatMap(([place, word]) => (place.startsWith(part) ? [word] : []));
/** Removes a deployment, and finds nothing of it in the clusters. */
async function takeAway(name: string) {
  await site.muster(['deployment', 'delete', name, '--wait']);
  for (const member of ['north', 'south', 'west'] as const) expect(await site.labelled(member)).toEqual([]);
}
/** A fault of calls with this method and end of the path, so many times. */
function times(count: number, method: string, end: string, fault: MemberFault) {
  let left = count;
  return (call: MemberCall) => {
    if (left === 0 || call.method !== method || !call.path.endsWith(end)) return undefined;
    left -= 1;
    return fault;
  };
}

test('an app waits for the one before it on all clusters (vector 57)', async () => {
  const { south } = site.members;
  await south.cut();
  await site.apply(await site.document('waits', ordered));
  await site.untilCounts('waits', { status: 'Instantiating', Applied: 3, Retrying: 3, Pending: 4 });
  const waiting = all(await site.resources('waits'), 'store');
  expect(waiting).toEqual(Array(4).fill('Pending Waiting'));
  await south.mend();
  expect(await site.until('waits', 'Instantiated')).toEqual({ status: 'Instantiated', Applied: 10 });
  await takeAway('waits');
}, 480_000);

test('an app is not begun where the one before it failed (vector 34)', async () => {
  const { north } = site.members;
  north.changes.splice(0);
  north.fault(times(9, 'PATCH', '/services/agent', { answer: 422, reason: 'Invalid' }));
  await site.apply(await site.document('fails', ordered));
  expect(await site.until('fails', 'InstantiateFailed')).toEqual({
    ...{ status: 'InstantiateFailed', Applied: 4, Failed: 1, Pending: 5 },
  });
  const words = await site.resources('fails');
  expect(all(words, 'store')).toEqual(Array(4).fill('Pending DependencyFailed'));
  expect(words).toMatchObject({
    'agent north Service agent': 'Failed Invalid',
    'agent north DaemonSet agent': 'Pending',
  });
  expect(north.changes.filter((change) => change.includes('store'))).toEqual([]);
  await takeAway('fails');
}, 480_000);

test('a connection that breaks at the last resource, and a server with no time, are no failures (vectors 20, 42)', async () => {
  const { north, south } = site.members;
  north.fault(times(1, 'PATCH', '/statefulsets/store', { reset: 'after' }));
  south.fault(times(2, 'PATCH', '/services/agent', { answer: 429, reason: 'TooManyRequests', retryAfter: 3 }));
  await site.apply(await site.document('broken', [AGENT, STORE]));
  expect(await site.until('broken', 'Instantiated')).toEqual({ status: 'Instantiated', Applied: 10 });
  const told = (await site.events('broken')).flatMap((event) => (event.type === 'resource' ? [event] : []));
  expect(told.filter(({ status }) => status === 'Failed')).toEqual([]);
  const retried = told
    .filter(({ status }) => status === 'Retrying')
    .map(({ cluster, resource }) => `${cluster} ${resource}`);
  expect(retried).toEqual(expect.arrayContaining(['lab+north store+StatefulSet', 'lab+south agent+Service']));

  // Vectors 17 and 18: an object that may not be deleted, until it may.
  north.fault(times(9, 'DELETE', '/services/store', { answer: 403, reason: 'Forbidden' }));
  await site.muster(['deployment', 'terminate', 'broken', '--wait'], { exit: 1 });
  expect(await site.status('broken')).toEqual({ status: 'TerminateFailed', Deleted: 9, Failed: 1 });
  expect(await site.resources('broken')).toMatchObject({ 'store north Service store': 'Failed Forbidden' });
  north.fault(() => undefined);
  await site.muster(['deployment', 'terminate', 'broken', '--wait']);
  expect(await site.status('broken')).toEqual({ status: 'Terminated', Deleted: 10 });
  await takeAway('broken');
}, 480_000);

test('a fault of the server is tried once more, and then it is a failure', async () => {
  const { north } = site.members;
  north.changes.splice(0);
  north.fault(times(9, 'PATCH', '/configmaps/cfg', { answer: 500, reason: 'InternalError', message: 'etcd is full' }));
  await site.apply(await site.document('faulty', [AGENT]));
  await site.until('faulty', 'InstantiateFailed');
  expect(await site.resources('faulty')).toMatchObject({
    ...{ 'agent north ConfigMap cfg': 'Failed InternalError', 'agent north Service agent': 'Pending' },
    'agent south ConfigMap cfg': 'Applied',
  });
  expect(north.changes.filter((change) => change.endsWith('/configmaps/cfg'))).toHaveLength(2);
  expect((await site.muster(['deployment', 'explain', 'faulty'])).out).toContain('etcd is full');
  await takeAway('faulty');
}, 480_000);

test('a credential that was revoked is waited for until it is rotated (vector 58)', async () => {
  const { south } = site.members;
  south.revoke();
  await site.apply(await site.document('revoked', [AGENT]));
  const isRefused = async () => all(await site.resources('revoked'), 'agent south')[0] === 'Retrying Unauthorized';
  await eventually('the credential is refused', isRefused, 180_000, () => site.resources('revoked'));
  await site.muster(['cluster', 'rotate', 'lab+south', '-f', '-'], { stdin: south.kubeconfig() });
  expect(await site.until('revoked', 'Instantiated')).toEqual({ status: 'Instantiated', Applied: 6 });
  await takeAway('revoked');
}, 480_000);

test('a call in flight is awaited before anything is deleted, also where it never ends', async () => {
  const { north, south } = site.members;
  for (const [name, isAnswered] of [
    ['late', true],
    ['silent', false],
  ] as const) {
    let isAsked = false;
    const { promise: until, resolve: release } = Promise.withResolvers<void>();
    const held = ({ method }: MemberCall) => {
      if (method !== 'PATCH') return undefined;
      isAsked = true;
      return { until };
    };
    for (const member of [north, south]) member.fault(held);
    await site.apply(await site.document(name, [AGENT]));
    await eventually('an apply is in flight', () => isAsked);
    await site.muster(['deployment', 'terminate', name]);
    expect((await site.status(name)).status).toBe('PreTerminate');
    for (const member of [north, south]) member.fault(() => undefined);
    if (isAnswered) release();
    expect(await site.until(name, 'Terminated')).toEqual({ status: 'Terminated', Deleted: 6 });
    await takeAway(name);
  }
}, 480_000);

test('a worker that is killed while a cluster is slow leaves each object there once (vector 21)', async () => {
  const { south } = site.members;
  const manifests = Array.from({ length: 20 }, (_, number) => config(`slow-${number}`)).join('');
  south.fault(() => ({ lateMs: 200 }));
  await site.apply(await site.document('slow', [{ name: 'agent', manifests }]));
  const uids = async () => {
    const { body } = await south.ask('GET', '/api/v1/namespaces/slow/configmaps?labelSelector=emco%2Fdeployment-id');
    return Object.fromEntries(
      body.items.map(({ metadata }: { metadata: { name: string; uid: string } }) => [metadata.name, metadata.uid]),
    );
  };
  await eventually('some are there', async () => Object.keys(await uids()).length > 2);
  const before = await uids();
  await site.stack.kill('worker');
  expect(await site.until('slow', 'Instantiated')).toEqual({ status: 'Instantiated', Applied: 40 });
  const after = await uids();
  expect(Object.keys(after)).toHaveLength(20);
  expect(after).toMatchObject(before);
  await takeAway('slow');
}, 480_000);

const definition = (plural: string, kind: string) => ({
  ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
  metadata: { name: `${plural}.k8s.plugin.opnfv.org` },
  spec: {
    ...{ group: 'k8s.plugin.opnfv.org', scope: 'Namespaced', names: { plural, kind, singular: kind.toLowerCase() } },
    versions: [
      {
        ...{ name: 'v1alpha1', served: true, storage: true },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

test('network intents go to their cluster once, and off it once (vectors 35, 36)', async () => {
  const { north } = site.members;
  const { stack } = site;
  for (const [plural, kind] of [
    ['networks', 'Network'],
    ['providernetworks', 'ProviderNetwork'],
  ] as const) {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    expect((await north.ask('POST', path, definition(plural, kind))).status).toBe(201);
  }
  const served = async () => {
    const { body } = await north.ask('GET', '/apis/k8s.plugin.opnfv.org/v1alpha1');
    return body.resources?.filter(({ kind }: { kind: string }) => kind.endsWith('Network')).length === 2;
  };
  await eventually('both kinds are served', served, 180_000);
  const url = '/v2/cluster-providers/lab/clusters/north';
  const code = async (method: string, path: string, body?: unknown) =>
    (await stack.call(method, `${url}/${path}`, body)).status;
  const shown = async () => (await stack.call('GET', `${url}/status`)).body;
  const until = (status: string) =>
    eventually(`networks are ${status}`, async () => (await shown()).status === status, 180_000, shown);
  const states = async () => (await shown()).states.actions.map(({ state }: { state: string }) => state);
  const objects = async () => {
    const { body } = await north.ask('GET', '/apis/k8s.plugin.opnfv.org/v1alpha1/namespaces/default/networks');
    return body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
  };
  const network = (name: string) => ({
    ...named(name),
    spec: { cniType: 'ovn4nfv', ipv4Subnets: [{ name: 'one', subnet: '172.16.34.0/24', gateway: '172.16.34.1/24' }] },
  });
  expect(await code('POST', 'networks', network('first'))).toBe(201);
  expect(await code('POST', 'networks', network('second'))).toBe(201);
  expect([await code('POST', 'apply'), await code('POST', 'apply')]).toEqual([204, 204]);
  await until('Instantiated');
  expect(await shown()).toMatchObject({ name: 'lab+north', state: 'Applied', 'rsync-status': { Applied: 2 } });
  expect((await shown()).apps).toMatchObject([{ name: 'network-intents' }]);
  expect(await states()).toEqual(['Created', 'Applied']);
  expect(await objects()).toEqual(['first', 'second']);
  expect(await code('POST', 'networks', network('third'))).toBe(409);
  expect([await code('POST', 'terminate'), await code('POST', 'terminate')]).toEqual([204, 204]);
  await until('Terminated');
  expect(await states()).toEqual(['Created', 'Applied', 'Terminated']);
  expect(await objects()).toEqual([]);
  expect(await code('POST', 'networks', network('third'))).toBe(201);
  for (const name of ['first', 'second', 'third']) expect(await code('DELETE', `networks/${name}`)).toBe(204);
}, 480_000);
