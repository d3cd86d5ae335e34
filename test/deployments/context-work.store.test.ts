/** The work of an AppContext on its rows, with clusters in memory; the rows are made over REST. */
import { describe, expect, test } from '@jest/globals';
import { probe } from '../../control/deployments/probe-clusters.ts';
import type { Waiting } from '../../control/deployments/wake-waiting.ts';
import { takeDueClusters } from '../../store/deployments/cluster-probes.ts';
import { FORM_HEADERS, formOf, kubeconfigOf, named } from './cluster-fixtures.ts';
import { contextBenchOfBlock } from './context-bench.ts';
import { AWAY, refusal } from './fake-member.ts';
import { SECRET_MANIFEST } from './placement-fixtures.ts';

const SERVICE = '/api/v1/namespaces/default/services/agent';
const CONFIG = '/api/v1/namespaces/default/configmaps/cfg';
const DEFINITION = `
apiVersion: example.com/v1
kind: Thing
metadata: {name: one}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec: {group: example.com}
`;
const bench = contextBenchOfBlock('w');
const { later, post, instantiated, round, status, reasons } = bench;

describe('apply', () => {
  test('sends each resource once, in order, with our label and the namespace of the cloud', async () => {
    const run = await instantiated({ namespace: 'obs' });
    await round(run);
    expect(await status(run)).toEqual({ status: 'Instantiated', Applied: 2 });
    const paths = [CONFIG, SERVICE].map((path) => path.replace('default', 'obs'));
    expect(bench.member.calls).toEqual(paths.flatMap((path) => [`read ${path}`, `apply ${path}`]));
    expect(bench.member.objects.get(paths[0] ?? '')?.label).toBe(`${run.id}-agent`);
    expect(await round(run)).toEqual([]);
  });

  test('sends the values of Secrets that the rows do not show', async () => {
    const run = await instantiated({ apps: { keys: SECRET_MANIFEST } });
    await round(run);
    expect(bench.member.applied.get('/api/v1/namespaces/default/secrets/keys')).toMatchObject({
      stringData: { password: 'hunter7' },
    });
  });

  test('stops a group at a refusal: what comes behind stays Pending', async () => {
    const run = await instantiated();
    bench.member.fault = (call, path) => (call === 'apply' && path === CONFIG ? refusal(422, 'Invalid') : undefined);
    await round(run);
    expect(await status(run)).toEqual({ status: 'InstantiateFailed', Failed: 1, Pending: 1 });
    expect(await reasons(run)).toEqual({ 'cfg+ConfigMap': 'Failed Invalid', 'agent+Service': 'Pending' });
    await post(`${run.group}/terminate`);
    await round(run);
    expect(await status(run)).toEqual({ status: 'Terminated', Deleted: 2 });
    // Nothing was sent of the Service, so nothing is asked of it.
    expect(bench.member.calls.filter((call) => call.includes('services'))).toEqual([]);
  });

  test('keeps what a cluster says, also where it is cut in the middle of a character', async () => {
    const run = await instantiated();
    const said = { kind: 'status', reason: 'Invalid', message: `${'x'.repeat(1_023)}\u{1f600}`, causes: [] } as const;
    bench.member.fault = (call) => (call === 'apply' ? { httpStatus: 422, retryAfter: null, body: said } : undefined);
    await round(run);
    expect(await reasons(run)).toEqual({ 'cfg+ConfigMap': 'Failed Invalid', 'agent+Service': 'Pending' });
  });

  test('has written what was applied before it breaks off', async () => {
    const run = await instantiated();
    bench.member.fault = (call, path) => {
      if (call === 'apply' && path === SERVICE) throw new Error('killed');
      return undefined;
    };
    await expect(round(run)).rejects.toThrow('killed');
    expect(await status(run)).toEqual({ status: 'Instantiating', Applied: 1, Pending: 1 });
    bench.member.fault = () => undefined;
    await round(run);
    expect(bench.member.calls.filter((call) => call.startsWith('apply') && call.includes(CONFIG))).toHaveLength(1);
    expect(await status(run)).toEqual({ status: 'Instantiated', Applied: 2 });
  });

  test('goes on with the first resource that is not applied when the cluster is back', async () => {
    const run = await instantiated();
    bench.member.fault = (call, path) => (call === 'apply' && path === SERVICE ? AWAY : undefined);
    expect(await round(run)).toMatchObject([{ is: 'away', reason: 'Unreachable', hasMoved: true, counts: true }]);
    expect(await reasons(run)).toEqual({ 'cfg+ConfigMap': 'Applied', 'agent+Service': 'Retrying Unreachable' });
    bench.member.fault = () => undefined;
    later(2);
    await round(run);
    expect(await status(run)).toEqual({ status: 'Instantiated', Applied: 2 });
    expect(bench.member.calls.filter((call) => call === `apply ${CONFIG}`)).toHaveLength(1);
  });

  test('waits as long as the cluster asks, and sends nothing before', async () => {
    const run = await instantiated();
    bench.member.fault = (call) => (call === 'apply' ? refusal(429, 'TooManyRequests', 30) : undefined);
    expect(await round(run)).toMatchObject([{ is: 'away', waitMs: 30_000 }]);
    bench.member.fault = () => undefined;
    const sent = bench.member.calls.length;
    later(5);
    expect(await round(run)).toMatchObject([{ is: 'away', counts: false, waitMs: 25_000 }]);
    expect(bench.member.calls).toHaveLength(sent);
    later(25);
    await round(run);
    expect(await status(run)).toEqual({ status: 'Instantiated', Applied: 2 });
  });

  test('waits until the cluster serves a kind that the same app defines, and not for ever', async () => {
    const apps = { store: DEFINITION };
    const run = await instantiated({ apps });
    let isServed = false;
    bench.member.fault = (call, what) =>
      call === 'kind' && what === 'Thing' && !isServed ? refusal(404, 'NotFound') : undefined;
    expect(await round(run)).toMatchObject([{ is: 'away', reason: 'Waiting', hasMoved: true, counts: false }]);
    expect(await reasons(run)).toMatchObject({ 'one+Thing': 'Pending Waiting' });
    isServed = true;
    await round(run);
    expect(await status(run)).toEqual({ status: 'Instantiated', Applied: 2 });
    isServed = false;
    const late = await instantiated({ apps });
    await round(late);
    later(30);
    await round(late);
    expect(await reasons(late)).toMatchObject({ 'one+Thing': 'Failed NotFound' });
  });

  test('is given up when its retries are used up, and not before', async () => {
    const run = await instantiated({ muster: { maxRetries: 3, retrySeconds: 2 } });
    bench.member.fault = () => AWAY;
    for (const waits of [0, 1, 2, 3]) {
      expect(await round(run, { waits })).toMatchObject([{ is: 'away', waitMs: 2_000, counts: true }]);
      later(1);
      // Woken before its time: that is no retry.
      expect(await round(run, { waits })).toMatchObject([{ is: 'away', waitMs: 1_000, counts: false }]);
      later(1);
    }
    expect(await round(run, { waits: 4 })).toEqual([{ is: 'ended' }]);
    expect(await status(run)).toEqual({ status: 'InstantiateFailed', Failed: 2 });
    expect(await reasons(run)).toMatchObject({ 'cfg+ConfigMap': 'Failed RetriesExceeded' });
  });

  test('survives a kill between call and commit: the object is known as its own', async () => {
    const run = await instantiated();
    const fault = bench.member.fault;
    bench.member.fault = (call, path) => {
      if (call !== 'apply' || path !== CONFIG) return undefined;
      bench.member.objects.set(CONFIG, {
        uid: 'uid-x',
        resourceVersion: '1',
        label: `${run.id}-agent`,
        isBeingDeleted: false,
      });
      throw new Error('killed');
    };
    await expect(round(run)).rejects.toThrow('killed');
    expect(
      await bench.api.database.db
        .selectFrom('context_resources')
        .select(['attempted', 'finding', 'status'])
        .where('context', '=', run.id)
        .where('key', '=', 'cfg+ConfigMap')
        .executeTakeFirst(),
    ).toEqual({ attempted: true, finding: 'absent', status: 'Pending' });
    bench.member.fault = fault;
    await round(run);
    expect(await status(run)).toEqual({ status: 'Instantiated', Applied: 2 });
    await post(`${run.group}/terminate`);
    // The call of the worker that was killed may still arrive: what it made would be left behind.
    expect(await round(run)).toMatchObject([{ is: 'away', reason: 'Waiting', waitMs: 35_000, counts: false }]);
    expect(await reasons(run)).toEqual({ 'cfg+ConfigMap': 'Pending Waiting', 'agent+Service': 'Pending Waiting' });
    expect(bench.member.objects.size).toBe(2);
    later(35);
    await round(run);
    expect(bench.member.objects.size).toBe(0);
  });

  test('judges an object anew that was made by hand between two tries', async () => {
    const run = await instantiated();
    bench.member.fault = (call, path) => (call === 'apply' && path === CONFIG ? AWAY : undefined);
    await round(run);
    bench.member.fault = () => undefined;
    bench.member.objects.set(CONFIG, { uid: 'hand', resourceVersion: '1', label: null, isBeingDeleted: false });
    later(2);
    await round(run);
    await post(`${run.group}/terminate`);
    later(35);
    await round(run);
    expect(await reasons(run)).toMatchObject({ 'cfg+ConfigMap': 'Deleted Released' });
    expect(bench.member.objects.get(CONFIG)).toMatchObject({ uid: 'hand', label: null });
  });

  test('sends nothing that a termination would not know of', async () => {
    const run = await instantiated();
    const read = bench.member.fault;
    let asked: Promise<unknown> | undefined;
    bench.member.fault = (call, path) => {
      if (call === 'read' && path === CONFIG) asked = post(`${run.group}/terminate`);
      return read(call, path);
    };
    const open = bench.member.openMember;
    bench.member.openMember = (credential) => ({
      ...open(credential),
      readMetadata: async (path) => {
        const found = await open(credential).readMetadata(path);
        await asked;
        return found;
      },
    });
    await round(run);
    expect(bench.member.calls.filter((call) => call.startsWith('apply'))).toEqual([]);
    await round(run);
    expect(await status(run)).toEqual({ status: 'Terminated', Deleted: 2 });
  });

  test('waits for a former object that is still being deleted, and gives up after a time', async () => {
    const run = await instantiated();
    bench.member.objects.set(CONFIG, { uid: 'old', resourceVersion: '1', label: null, isBeingDeleted: true });
    expect(await round(run)).toMatchObject([{ is: 'away', reason: 'BeingDeleted', counts: false }]);
    expect(await reasons(run)).toEqual({ 'cfg+ConfigMap': 'Retrying BeingDeleted', 'agent+Service': 'Pending' });
    later(300);
    await round(run);
    expect(await reasons(run)).toMatchObject({ 'cfg+ConfigMap': 'Failed BeingDeleted' });
  });

  test('is stopped: what is not done fails, what is applied stays', async () => {
    const run = await instantiated();
    bench.member.fault = (call, path) => (call === 'apply' && path === SERVICE ? AWAY : undefined);
    await round(run);
    await post(`${run.group}/stop`);
    expect(await round(run)).toEqual([{ is: 'ended' }]);
    expect(await status(run)).toEqual({ status: 'InstantiateFailed', Applied: 1, Failed: 1 });
    expect(await reasons(run)).toMatchObject({ 'agent+Service': 'Failed Stopped' });
    expect((await bench.api.call('POST', `${run.group}/stop`)).status).toBe(409);
  });

  test('is stopped while its last call is in flight: the outcome is kept, and the state is that of a stop', async () => {
    const run = await instantiated();
    const open = bench.member.openMember;
    bench.member.openMember = (credential) => ({
      ...open(credential),
      apply: async (path, manifest) => {
        if (path === SERVICE) await post(`${run.group}/stop`);
        return await open(credential).apply(path, manifest);
      },
    });
    await round(run);
    expect(await status(run)).toEqual({ status: 'InstantiateFailed', Applied: 2 });
    await post(`${run.group}/terminate`);
    await round(run);
    expect(await status(run)).toEqual({ status: 'Terminated', Deleted: 2 });
  });
});

describe('a credential that is revoked in the middle', () => {
  test('is waited for; a new one is probed at once, wakes what waits, and is used', async () => {
    const run = await instantiated();
    bench.member.fault = (call, path) =>
      call === 'apply' && path === SERVICE ? refusal(401, 'Unauthorized') : undefined;
    expect(await round(run)).toMatchObject([{ is: 'away', reason: 'Unauthorized', hasMoved: true }]);
    expect(await reasons(run)).toEqual({ 'cfg+ConfigMap': 'Applied', 'agent+Service': 'Retrying Unauthorized' });
    const cluster = `/v2/cluster-providers/${run.provider}/clusters/north`;
    const form = formOf(named('north'), kubeconfigOf({ token: 'hunter3' }));
    expect((await bench.api.call('PUT', cluster, form, FORM_HEADERS)).status).toBe(200);
    const now = bench.api.now.value;
    const due = await takeDueClusters(bench.deps.db, now, new Date(now.getTime() + 20_000), 1_000);
    const own = due.filter(({ provider }) => provider === run.provider);
    expect(own.map(({ revision }) => Number(revision))).toEqual([2]);
    const tokens: unknown[] = [];
    const open = bench.member.openMember;
    bench.member.openMember = (credential) => {
      tokens.push(credential.user);
      return open(credential);
    };
    bench.member.fault = () => undefined;
    const woken: Waiting[] = [];
    const wake = async (waiting: readonly Waiting[]) => void woken.push(...waiting);
    later(1);
    for (const each of own) {
      await probe({ ...bench.deps, wake, log: { warn: () => undefined }, staleAfterMs: 60_000 }, each);
    }
    expect(woken).toEqual([{ context: run.id, phase: 'apply', cluster: `${run.provider}+north` }]);
    await round(run);
    expect(await status(run)).toEqual({ status: 'Instantiated', Applied: 2 });
    expect(tokens).toEqual([{ token: 'hunter3' }]);
  });
});

describe('a cluster that answers the prober and no call', () => {
  test('uses up the retries of a group at its own intervals, however often it is woken', async () => {
    const run = await instantiated({ muster: { maxRetries: 1, retrySeconds: 60, retryBackoff: 1 } });
    const { db } = bench.api.database;
    const seen = () =>
      db
        .updateTable('member_cluster_probes')
        .set({ is_answering: true, last_seen: bench.api.now.value, probed_at: bench.api.now.value })
        .where('provider', '=', run.provider)
        .execute();
    bench.member.fault = (call) => (call === 'read' ? refusal(503, 'ServiceUnavailable') : undefined);
    expect(await round(run)).toMatchObject([{ is: 'away', counts: true, waitMs: 60_000 }]);
    for (let woken = 1; woken <= 5; woken += 1) {
      later(2);
      await seen();
      expect(await round(run, { waits: 0 })).toMatchObject([
        { is: 'away', counts: false, reason: 'ServiceUnavailable', waitMs: 60_000 - woken * 2_000 },
      ]);
    }
    expect(await reasons(run)).toMatchObject({ 'cfg+ConfigMap': 'Retrying ServiceUnavailable' });
    later(50);
    expect(await round(run, { waits: 1 })).toMatchObject([{ is: 'away', counts: true }]);
    later(60);
    expect(await round(run, { waits: 2 })).toEqual([{ is: 'ended' }]);
    expect(await reasons(run)).toMatchObject({ 'cfg+ConfigMap': 'Failed RetriesExceeded' });
  });

  test('has its work taken up as soon as it answers calls', async () => {
    const run = await instantiated({ muster: { retrySeconds: 60 } });
    bench.member.fault = () => AWAY;
    await round(run);
    bench.member.fault = () => undefined;
    later(2);
    await bench.api.database.db
      .updateTable('member_cluster_probes')
      .set({ is_answering: true, last_seen: bench.api.now.value, probed_at: bench.api.now.value })
      .where('provider', '=', run.provider)
      .execute();
    expect(await round(run)).toEqual([{ is: 'ended' }]);
    expect(await status(run)).toEqual({ status: 'Instantiated', Applied: 2 });
  });
});

describe('terminate', () => {
  test('is stopped before it has begun: the deletion gives up, and what was sent is deleted by the next one', async () => {
    const run = await instantiated();
    bench.member.fault = (call, path) => (call === 'apply' && path === SERVICE ? AWAY : undefined);
    await round(run);
    await post(`${run.group}/terminate`);
    expect((await status(run)).status).toBe('PreTerminate');
    expect(await post(`${run.group}/stop`)).toMatchObject({ state: 'TerminateStopped' });
    expect(await bench.api.call('POST', `${run.group}/instantiate`)).toMatchObject({
      status: 409,
      body: { code: 'context_busy' },
    });
    bench.member.fault = () => undefined;
    bench.member.calls.length = 0;
    await round(run);
    expect(bench.member.calls).toEqual([]);
    expect(await status(run)).toEqual({ status: 'TerminateFailed', Failed: 2 });
    expect(await reasons(run)).toEqual({ 'cfg+ConfigMap': 'Failed Stopped', 'agent+Service': 'Failed Stopped' });
    await post(`${run.group}/terminate`);
    later(35);
    await round(run);
    expect(await status(run)).toEqual({ status: 'Terminated', Deleted: 2 });
    expect(bench.member.objects.size).toBe(0);
  });

  test('has nothing to stop before it has begun where nothing was ever sent', async () => {
    const run = await instantiated();
    await post(`${run.group}/terminate`);
    expect(await bench.api.call('POST', `${run.group}/stop`)).toMatchObject({
      status: 409,
      body: { code: 'invalid_state' },
    });
    await round(run);
    expect(await status(run)).toEqual({ status: 'Terminated', Deleted: 2 });
  });

  test('deletes in reversed order', async () => {
    const run = await instantiated();
    await round(run);
    bench.member.calls.length = 0;
    await post(`${run.group}/terminate`);
    expect((await status(run)).status).toBe('Terminating');
    await round(run);
    expect(bench.member.calls).toEqual([SERVICE, CONFIG].flatMap((path) => [`read ${path}`, `delete ${path}`]));
    expect(await status(run)).toEqual({ status: 'Terminated', Deleted: 2 });
  });

  test('ends at once where nothing was ever sent', async () => {
    const run = await instantiated();
    bench.member.fault = () => AWAY;
    await round(run);
    await post(`${run.group}/terminate`);
    expect((await status(run)).status).toBe('PreTerminate');
    await round(run);
    expect(await status(run)).toEqual({ status: 'Terminated', Deleted: 2 });
    expect(bench.member.calls).toEqual([]);
  });

  test('leaves what is not ours: adopted, recreated by hand, taken over', async () => {
    const run = await instantiated();
    bench.member.objects.set(CONFIG, { uid: 'own', resourceVersion: '1', label: null, isBeingDeleted: false });
    await round(run);
    bench.member.objects.set(SERVICE, { uid: 'new', resourceVersion: '9', label: '77-other', isBeingDeleted: false });
    await post(`${run.group}/terminate`);
    await round(run);
    expect(await reasons(run)).toEqual({ 'cfg+ConfigMap': 'Deleted Released', 'agent+Service': 'Deleted NotOwned' });
    expect(bench.member.objects.get(CONFIG)).toMatchObject({ uid: 'own', label: null });
    expect(bench.member.objects.get(SERVICE)).toMatchObject({ uid: 'new', label: '77-other' });
  });

  test('leaves what another deployment has adopted before', async () => {
    const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system}\n';
    const path = '/api/v1/namespaces/kube-system';
    bench.member.objects.set(path, { uid: 'system', resourceVersion: '1', label: null, isBeingDeleted: false });
    const first = await instantiated({ apps: { one: namespace, two: namespace } });
    await round(first);
    const other = await instantiated({ apps: { three: namespace } });
    await round(other);
    for (const run of [first, other]) {
      await post(`${run.group}/terminate`);
      await round(run);
    }
    expect(bench.member.objects.get(path)?.uid).toBe('system');
  });

  test('knows what it has released when it is killed before the commit', async () => {
    const run = await instantiated();
    bench.member.objects.set(CONFIG, { uid: 'own', resourceVersion: '1', label: null, isBeingDeleted: false });
    await round(run);
    await post(`${run.group}/terminate`);
    const open = bench.member.openMember;
    bench.member.openMember = (credential) => ({
      ...open(credential),
      relabel: async (...given) => {
        await open(credential).relabel(...given);
        throw new Error('killed');
      },
    });
    await expect(round(run)).rejects.toThrow('killed');
    bench.member.openMember = open;
    await round(run);
    expect(await reasons(run)).toMatchObject({ 'cfg+ConfigMap': 'Deleted Released' });
  });

  test('goes on at a refusal, fails at the end, and is tried again', async () => {
    const run = await instantiated();
    await round(run);
    await post(`${run.group}/terminate`);
    bench.member.fault = (call, path) =>
      call === 'delete' && path === SERVICE ? refusal(403, 'Forbidden') : undefined;
    await round(run);
    expect(await status(run)).toEqual({ status: 'TerminateFailed', Failed: 1, Deleted: 1 });
    expect(await reasons(run)).toMatchObject({ 'agent+Service': 'Failed Forbidden' });
    bench.member.fault = () => undefined;
    await post(`${run.group}/terminate`);
    await round(run);
    expect(await status(run)).toEqual({ status: 'Terminated', Deleted: 2 });
    expect((await bench.api.call('DELETE', `${run.group}?cascade=true`)).status).toBe(204);
    const left = await bench.api.database.db
      .selectFrom('context_resources')
      .select('key')
      .where('context', '=', run.id)
      .execute();
    expect(left).toEqual([]);
  });

  test('looks again when the object changes under it', async () => {
    const run = await instantiated();
    await round(run);
    await post(`${run.group}/terminate`);
    let changes = 2;
    bench.member.fault = (call, path) => {
      const live = bench.member.objects.get(path);
      if (call !== 'delete' || live === undefined || changes-- <= 0) return undefined;
      bench.member.objects.set(path, { ...live, resourceVersion: `${changes}-later` });
      return undefined;
    };
    await round(run);
    expect(await status(run)).toEqual({ status: 'Terminated', Deleted: 2 });
  });

  test('takes a Namespace off only with the last that has it', async () => {
    const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: shared}\n';
    const first = await instantiated({ apps: { one: namespace } });
    await round(first);
    const other = await instantiated({ apps: { two: namespace } });
    await round(other);
    const path = '/api/v1/namespaces/shared';
    expect(await reasons(other)).toEqual({ 'shared+Namespace': 'Applied TakenOver' });
    await post(`${first.group}/terminate`);
    await round(first);
    expect(await reasons(first)).toEqual({ 'shared+Namespace': 'Deleted NotOwned' });
    expect(bench.member.objects.get(path)?.label).toBe(`${other.id}-two`);
    await post(`${other.group}/terminate`);
    await round(other);
    expect(bench.member.objects.has(path)).toBe(false);
  });
});
