/** The work of an AppContext on its rows, with clusters in memory; the rows are made over REST. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { applyGroup } from '../../control/deployments/apply-group.ts';
import { openClusterSeal, openContentSeals } from '../../control/deployments/cluster-seal.ts';
import { deleteGroup } from '../../control/deployments/delete-group.ts';
import type { GroupAnswer, GroupDependencies } from '../../control/deployments/group-work.ts';
import { beginPhase, finishPhase } from '../../control/deployments/run-phase.ts';
import { openAddresses } from '../../drivers/member-clusters/addresses.ts';
import { openKubeconfigs } from '../../drivers/member-clusters/kubeconfig.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';
import { AWAY, type FakeMember, fakeMember, refusal } from './fake-member.ts';
import { type Made, makeDeployment, SECRET_MANIFEST, type Wanted } from './placement-fixtures.ts';

const SERVICE = '/api/v1/namespaces/default/services/agent';
const CONFIG = '/api/v1/namespaces/default/configmaps/cfg';
const never = new AbortController().signal;
let api: TestApi;
let member: FakeMember;
let deps: GroupDependencies;
let count = 0;

beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());
beforeEach(() => {
  member = fakeMember();
  deps = {
    db: api.database.db,
    clusterSeal: openClusterSeal(api.database.db, api.deps.secrets),
    manifestSeal: openContentSeals(api.database.db, api.deps.secrets).manifestSeal,
    readKubeconfig: openKubeconfigs(openAddresses({ allowLoopback: true, networks: [], own: [] })),
    memberClusters: member,
    retry: { firstSeconds: 2, backoff: 1, maxSeconds: 60, maxRetries: null },
    deletionWaitMs: 300_000,
    clock: () => api.now.value,
  };
});

const later = (seconds: number) => {
  api.now.value = new Date(api.now.value.getTime() + seconds * 1000);
};

interface Running extends Made {
  id: string;
}

const post = async (url: string) => {
  const answer = await api.call('POST', url);
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
  return answer.body;
};

async function instantiated(wanted: Wanted = {}): Promise<Running> {
  const made = await makeDeployment(api.call, `w-${++count}`, wanted);
  await post(`${made.group}/approve`);
  return { ...made, id: (await post(`${made.group}/instantiate`)).instance };
}

/** Runs what is wanted, each group once; returns what the groups say. */
async function round({ id }: Running, waits = 0): Promise<GroupAnswer[]> {
  const phase = await beginPhase(deps, id);
  if (phase === null) return [];
  const answers: GroupAnswer[] = [];
  const work = phase.phase === 'apply' ? applyGroup : deleteGroup;
  for (const { cluster, apps } of phase.clusters)
    for (const app of apps)
      answers.push(await work(deps, { context: id, phase: phase.phase, cluster, app, waits }, never));
  if (answers.every(({ is }) => is === 'ended')) await finishPhase(deps, id, phase.phase);
  return answers;
}

const status = async ({ group }: Made) => {
  const { body } = await api.call('GET', `${group}/status?output=summary`);
  return { status: body.status, ...body['rsync-status'] };
};
const reasons = async ({ id }: Running) =>
  Object.fromEntries(
    (await api.database.db.selectFrom('context_resources').selectAll().where('context', '=', id).execute()).map(
      ({ key, status: word, reason }) => [key, reason === null ? word : `${word} ${reason}`],
    ),
  );

describe('apply', () => {
  test('sends each resource once, in order, with our label and the namespace of the cloud', async () => {
    const run = await instantiated({ namespace: 'obs' });
    await round(run);
    expect(await status(run)).toEqual({ status: 'Instantiated', Applied: 2 });
    const paths = [CONFIG, SERVICE].map((path) => path.replace('default', 'obs'));
    expect(member.calls).toEqual(paths.flatMap((path) => [`read ${path}`, `apply ${path}`]));
    expect(member.objects.get(paths[0] ?? '')?.label).toBe(`${run.id}-agent`);
    expect(await round(run)).toEqual([]);
  });

  test('sends the values of Secrets that the rows do not show', async () => {
    const run = await instantiated({ apps: { keys: SECRET_MANIFEST } });
    await round(run);
    expect(member.applied.get('/api/v1/namespaces/default/secrets/keys')).toMatchObject({
      stringData: { password: 'hunter7' },
    });
  });

  test('stops a group at a refusal: what comes behind stays Pending', async () => {
    const run = await instantiated();
    member.fault = (call, path) => (call === 'apply' && path === CONFIG ? refusal(422, 'Invalid') : undefined);
    await round(run);
    expect(await status(run)).toEqual({ status: 'InstantiateFailed', Failed: 1, Pending: 1 });
    expect(await reasons(run)).toEqual({ 'cfg+ConfigMap': 'Failed Invalid', 'agent+Service': 'Pending' });
    await post(`${run.group}/terminate`);
    await round(run);
    expect(await status(run)).toEqual({ status: 'Terminated', Deleted: 2 });
    // Nothing was sent of the Service, so nothing is asked of it.
    expect(member.calls.filter((call) => call.includes('services'))).toEqual([]);
  });

  test('goes on with the first resource that is not applied when the cluster is back', async () => {
    const run = await instantiated();
    member.fault = (call, path) => (call === 'apply' && path === SERVICE ? AWAY : undefined);
    expect(await round(run)).toMatchObject([{ is: 'away', reason: 'Unreachable', hasMoved: true, counts: true }]);
    expect(await reasons(run)).toEqual({ 'cfg+ConfigMap': 'Applied', 'agent+Service': 'Retrying Unreachable' });
    member.fault = () => undefined;
    later(2);
    await round(run);
    expect(await status(run)).toEqual({ status: 'Instantiated', Applied: 2 });
    expect(member.calls.filter((call) => call === `apply ${CONFIG}`)).toHaveLength(1);
  });

  test('waits as long as the cluster asks, and sends nothing before', async () => {
    const run = await instantiated();
    member.fault = (call) => (call === 'apply' ? refusal(429, 'TooManyRequests', 30) : undefined);
    expect(await round(run)).toMatchObject([{ is: 'away', waitMs: 30_000 }]);
    member.fault = () => undefined;
    const sent = member.calls.length;
    later(5);
    expect(await round(run)).toMatchObject([{ is: 'away', counts: false, waitMs: 25_000 }]);
    expect(member.calls).toHaveLength(sent);
    later(25);
    await round(run);
    expect(await status(run)).toEqual({ status: 'Instantiated', Applied: 2 });
  });

  test('is given up when its retries are used up, and not before', async () => {
    const run = await instantiated({ muster: { maxRetries: 3, retrySeconds: 2 } });
    member.fault = () => AWAY;
    for (const waits of [0, 1, 2, 3]) expect(await round(run, waits)).toMatchObject([{ is: 'away', waitMs: 2_000 }]);
    expect(await round(run, 4)).toEqual([{ is: 'ended' }]);
    expect(await status(run)).toEqual({ status: 'InstantiateFailed', Failed: 2 });
    expect(await reasons(run)).toMatchObject({ 'cfg+ConfigMap': 'Failed RetriesExceeded' });
  });

  test('survives a kill between call and commit: the object is known as its own', async () => {
    const run = await instantiated();
    const fault = member.fault;
    member.fault = (call, path) => {
      if (call !== 'apply' || path !== CONFIG) return undefined;
      member.objects.set(CONFIG, {
        uid: 'uid-x',
        resourceVersion: '1',
        label: `${run.id}-agent`,
        isBeingDeleted: false,
      });
      throw new Error('killed');
    };
    await expect(round(run)).rejects.toThrow('killed');
    expect(
      await api.database.db
        .selectFrom('context_resources')
        .select(['attempted', 'finding', 'status'])
        .where('context', '=', run.id)
        .where('key', '=', 'cfg+ConfigMap')
        .executeTakeFirst(),
    ).toEqual({ attempted: true, finding: 'absent', status: 'Pending' });
    member.fault = fault;
    await round(run);
    expect(await status(run)).toEqual({ status: 'Instantiated', Applied: 2 });
    await post(`${run.group}/terminate`);
    await round(run);
    expect(member.objects.size).toBe(0);
  });

  test('judges an object anew that was made by hand between two tries', async () => {
    const run = await instantiated();
    member.fault = (call, path) => (call === 'apply' && path === CONFIG ? AWAY : undefined);
    await round(run);
    member.fault = () => undefined;
    member.objects.set(CONFIG, { uid: 'hand', resourceVersion: '1', label: null, isBeingDeleted: false });
    later(2);
    await round(run);
    await post(`${run.group}/terminate`);
    await round(run);
    expect(await reasons(run)).toMatchObject({ 'cfg+ConfigMap': 'Deleted Released' });
    expect(member.objects.get(CONFIG)).toMatchObject({ uid: 'hand', label: null });
  });

  test('sends nothing that a termination would not know of', async () => {
    const run = await instantiated();
    const read = member.fault;
    let asked: Promise<unknown> | undefined;
    member.fault = (call, path) => {
      if (call === 'read' && path === CONFIG) asked = post(`${run.group}/terminate`);
      return read(call, path);
    };
    const open = member.openMember;
    member.openMember = (credential) => ({
      ...open(credential),
      readMetadata: async (path) => {
        const found = await open(credential).readMetadata(path);
        await asked;
        return found;
      },
    });
    await round(run);
    expect(member.calls.filter((call) => call.startsWith('apply'))).toEqual([]);
    await round(run);
    expect(await status(run)).toEqual({ status: 'Terminated', Deleted: 2 });
  });

  test('waits for a former object that is still being deleted, and gives up after a time', async () => {
    const run = await instantiated();
    member.objects.set(CONFIG, { uid: 'old', resourceVersion: '1', label: null, isBeingDeleted: true });
    expect(await round(run)).toMatchObject([{ is: 'away', reason: 'BeingDeleted', counts: false }]);
    expect(await reasons(run)).toEqual({ 'cfg+ConfigMap': 'Retrying BeingDeleted', 'agent+Service': 'Pending' });
    later(300);
    await round(run);
    expect(await reasons(run)).toMatchObject({ 'cfg+ConfigMap': 'Failed BeingDeleted' });
  });

  test('is stopped: what is not done fails, what is applied stays', async () => {
    const run = await instantiated();
    member.fault = (call, path) => (call === 'apply' && path === SERVICE ? AWAY : undefined);
    await round(run);
    await post(`${run.group}/stop`);
    expect(await round(run)).toEqual([{ is: 'ended' }]);
    expect(await status(run)).toEqual({ status: 'InstantiateFailed', Applied: 1, Failed: 1 });
    expect(await reasons(run)).toMatchObject({ 'agent+Service': 'Failed Stopped' });
    expect((await api.call('POST', `${run.group}/stop`)).status).toBe(409);
  });

  test('is stopped while its last call is in flight: the outcome is kept, and the state is that of a stop', async () => {
    const run = await instantiated();
    const open = member.openMember;
    member.openMember = (credential) => ({
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

describe('terminate', () => {
  test('deletes in reversed order', async () => {
    const run = await instantiated();
    await round(run);
    member.calls.length = 0;
    await post(`${run.group}/terminate`);
    expect((await status(run)).status).toBe('Terminating');
    await round(run);
    expect(member.calls).toEqual([SERVICE, CONFIG].flatMap((path) => [`read ${path}`, `delete ${path}`]));
    expect(await status(run)).toEqual({ status: 'Terminated', Deleted: 2 });
  });

  test('ends at once where nothing was ever sent', async () => {
    const run = await instantiated();
    member.fault = () => AWAY;
    await round(run);
    await post(`${run.group}/terminate`);
    expect((await status(run)).status).toBe('PreTerminate');
    await round(run);
    expect(await status(run)).toEqual({ status: 'Terminated', Deleted: 2 });
    expect(member.calls).toEqual([]);
  });

  test('leaves what is not ours: adopted, recreated by hand, taken over', async () => {
    const run = await instantiated();
    member.objects.set(CONFIG, { uid: 'own', resourceVersion: '1', label: null, isBeingDeleted: false });
    await round(run);
    member.objects.set(SERVICE, { uid: 'new', resourceVersion: '9', label: '77-other', isBeingDeleted: false });
    await post(`${run.group}/terminate`);
    await round(run);
    expect(await reasons(run)).toEqual({ 'cfg+ConfigMap': 'Deleted Released', 'agent+Service': 'Deleted NotOwned' });
    expect(member.objects.get(CONFIG)).toMatchObject({ uid: 'own', label: null });
    expect(member.objects.get(SERVICE)).toMatchObject({ uid: 'new', label: '77-other' });
  });

  test('leaves what another deployment has adopted before', async () => {
    const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system}\n';
    const path = '/api/v1/namespaces/kube-system';
    member.objects.set(path, { uid: 'system', resourceVersion: '1', label: null, isBeingDeleted: false });
    const first = await instantiated({ apps: { one: namespace, two: namespace } });
    await round(first);
    const other = await instantiated({ apps: { three: namespace } });
    await round(other);
    for (const run of [first, other]) {
      await post(`${run.group}/terminate`);
      await round(run);
    }
    expect(member.objects.get(path)?.uid).toBe('system');
  });

  test('knows what it has released when it is killed before the commit', async () => {
    const run = await instantiated();
    member.objects.set(CONFIG, { uid: 'own', resourceVersion: '1', label: null, isBeingDeleted: false });
    await round(run);
    await post(`${run.group}/terminate`);
    const open = member.openMember;
    member.openMember = (credential) => ({
      ...open(credential),
      relabel: async (...given) => {
        await open(credential).relabel(...given);
        throw new Error('killed');
      },
    });
    await expect(round(run)).rejects.toThrow('killed');
    member.openMember = open;
    await round(run);
    expect(await reasons(run)).toMatchObject({ 'cfg+ConfigMap': 'Deleted Released' });
  });

  test('goes on at a refusal, fails at the end, and is tried again', async () => {
    const run = await instantiated();
    await round(run);
    await post(`${run.group}/terminate`);
    member.fault = (call, path) => (call === 'delete' && path === SERVICE ? refusal(403, 'Forbidden') : undefined);
    await round(run);
    expect(await status(run)).toEqual({ status: 'TerminateFailed', Failed: 1, Deleted: 1 });
    expect(await reasons(run)).toMatchObject({ 'agent+Service': 'Failed Forbidden' });
    member.fault = () => undefined;
    await post(`${run.group}/terminate`);
    await round(run);
    expect(await status(run)).toEqual({ status: 'Terminated', Deleted: 2 });
    expect((await api.call('DELETE', `${run.group}?cascade=true`)).status).toBe(204);
    const left = await api.database.db
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
    member.fault = (call, path) => {
      const live = member.objects.get(path);
      if (call !== 'delete' || live === undefined || changes-- <= 0) return undefined;
      member.objects.set(path, { ...live, resourceVersion: `${changes}-later` });
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
    expect(member.objects.get(path)?.label).toBe(`${other.id}-two`);
    await post(`${other.group}/terminate`);
    await round(other);
    expect(member.objects.has(path)).toBe(false);
  });
});
