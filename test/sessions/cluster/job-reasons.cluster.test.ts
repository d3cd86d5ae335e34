import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { type ClusterGate, openClusterGate } from '../../support/kubernetes/cluster-gate.ts';
import { type ClusterStack, startClusterStack } from '../../support/kubernetes/cluster-stack.ts';
import { hostAddress, imageName } from '../../support/kubernetes/dev-cluster.ts';
import { type JobSessions, openJobSessions } from '../../support/kubernetes/job-sessions.ts';

const MISSING = 'localhost/muster/none:1';
const PING = `
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.ping:
`;
const FILLS = `
- hosts: all
  gather_facts: false
  tasks:
    - name: fill the disk
      ansible.builtin.command: dd if=/dev/zero of={{ lookup('ansible.builtin.env', 'HOME') }}/fill bs=64k
`;
const WAITS = `
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.command: sleep 3600
      changed_when: true
`;
let cluster: ClusterStack;
let sessions: JobSessions;
let gate: ClusterGate;

beforeAll(async () => {
  gate = await openClusterGate();
  cluster = await startClusterStack({
    MUSTER_RUNNER_KUBECONFIG: gate.kubeconfig,
    MUSTER_RUNNER_AEE_IMAGE: MISSING,
    MUSTER_RUNNER_PULL_POLICY: 'IfNotPresent',
    MUSTER_RUNNER_IMPOSSIBLE: '15',
    MUSTER_RUNNER_WORKSPACE_MEDIUM: 'Memory',
    MUSTER_RUNNER_WORKSPACE_SIZE: '12Mi',
  });
  sessions = openJobSessions(cluster);
  const { stack } = cluster;
  const repository = await stack.repository('config');
  await repository.commit({ 'ping.yml': PING, 'fills.yml': FILLS, 'waits.yml': WAITS });
  const large = await stack.repository('large');
  // Nothing that git could make small.
  await large.commit({ 'ping.yml': PING, 'large.txt': randomBytes(12 * 2 ** 20).toString('base64') });
  await stack.configure('ping', cluster.repositoryUrl('config'), ['ping.yml'], ['a', 'b']);
  await stack.configure('fills', cluster.repositoryUrl('config'), ['fills.yml'], ['a', 'b']);
  await stack.configure('waits', cluster.repositoryUrl('config'), ['waits.yml'], ['a', 'b']);
  await stack.configure('large', cluster.repositoryUrl('large'), ['ping.yml'], ['c']);
}, 600_000);

afterAll(async () => {
  await cluster?.remove();
  await gate?.close();
}, 240_000);

/** Starts a session whose Secret is gone before its pod can begin. */
async function withoutSecret(name: string): Promise<void> {
  const letsRun = gate.hold('before', ({ method, body }) => method === 'PATCH' && body?.spec?.suspend === false);
  await cluster.stack.create(name, 'ping', { ansible_limit: 'b' });
  await letsRun.reached;
  await cluster.namespace.kubectl(['delete', 'secret', await sessions.jobOf(name)]);
  letsRun.letGo();
}

/** Asks for the end of a pod as a drain of its node does. */
async function evict(pod: string): Promise<void> {
  const { name: namespace, kubectl } = cluster.namespace;
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod, namespace } };
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}/eviction`;
  await kubectl(['create', '--raw', path, '-f', '-'], JSON.stringify(eviction));
}

/** Waits until a session that goes on says why it waits: for as long as the session goes on. */
async function shown(name: string, code: string, message: RegExp): Promise<void> {
  const said = await eventually(
    `${name} says why it waits, or ends`,
    async () => {
      const { reason, status } = await cluster.stack.session(name);
      const { status: phase } = status.session;
      const isSaid = phase === 'running' && reason?.code === code && message.test(reason.message);
      return isSaid || phase === 'complete' ? [phase, reason?.code] : null;
    },
    180_000,
  );
  expect([name, ...said]).toEqual([name, 'running', code]);
}

describe('a session whose Job cannot do its work says why, while it waits and at its end', () => {
  test('an image that nobody has; a volume of what is not there; a repository that fills the disk', async () => {
    const { stack } = cluster;
    await withoutSecret('no-secret');
    await stack.create('no-image', 'ping', { ansible_limit: 'a' });
    await stack.create('large', 'large');
    const mount = /FailedMount: .*secret "cfs-[-0-9a-f]+" not found/;
    await Promise.all([
      shown('no-image', 'image_pull_failed', /container ansible: .*localhost\/muster\/none:1/),
      shown('no-secret', 'container_config_invalid', mount),
    ]);
    expect(await sessions.ended('no-image')).toEqual({
      succeeded: 'false',
      message: expect.stringMatching(/^its pod waited too long: container ansible: .*localhost\/muster\/none:1/),
      reason: 'image_pull_failed',
    });
    expect(await sessions.ended('no-secret')).toEqual({
      succeeded: 'false',
      message: expect.stringMatching(mount),
      reason: 'container_config_invalid',
    });
    expect(await sessions.ended('large')).toEqual({
      succeeded: 'false',
      message: expect.stringMatching(/^clone failed: layer 1: .*No space left on device/),
      reason: 'clone_failed',
    });
    await sessions.untilGone(await sessions.jobOf('no-image'));
    await sessions.untilGone(await sessions.jobOf('no-secret'));
    await sessions.untilReleased(await sessions.jobOf('large'));
  }, 480_000);

  test('an image that has no program for it', async () => {
    const { stack } = cluster;
    await stack.stop();
    stack.env.MUSTER_RUNNER_AEE_IMAGE = imageName('util');
    await stack.start();
    await stack.create('no-program', 'ping', { ansible_limit: 'a' });
    expect(await sessions.ended('no-program')).toEqual({
      succeeded: 'false',
      message: expect.stringMatching(/^container ansible: StartError: .*python3.* no such file or directory/),
      reason: 'container_config_invalid',
    });
    await sessions.untilReleased(await sessions.jobOf('no-program'));
  }, 480_000);

  test('an address at which no pod reaches Muster', async () => {
    const { stack } = cluster;
    const { MUSTER_RUNNER_INGEST_URL: right } = stack.env;
    // Nobody listens there.
    const wrong = `http://${hostAddress()}:1`;
    await stack.stop();
    Object.assign(stack.env, {
      MUSTER_RUNNER_AEE_IMAGE: imageName('aee'),
      MUSTER_RUNNER_INGEST_URL: wrong,
      MUSTER_RUNNER_WAIT: '60',
    });
    await stack.start();
    await stack.create('silent', 'ping', { ansible_limit: 'a' });
    const why = `its pod does not reach Muster at ${wrong}, or Muster does not take it: its log says why`;
    await shown('silent', 'pod_silent', new RegExp(`^${why}$`));
    expect(await sessions.ended('silent')).toEqual({
      succeeded: 'false',
      message: `its pod waited too long: ${why}`,
      reason: 'pod_silent',
    });
    await sessions.untilGone(await sessions.jobOf('silent'));
    await stack.stop();
    Object.assign(stack.env, { MUSTER_RUNNER_INGEST_URL: right, MUSTER_RUNNER_WAIT: undefined });
    await stack.start();
  }, 480_000);

  test('a playbook that fills the disk; the next session has all of it again', async () => {
    const { stack } = cluster;
    await stack.create('full', 'fills', { ansible_limit: 'a' });
    expect(await sessions.ended('full')).toEqual({
      succeeded: 'false',
      message: 'layer 1: the disk of /muster/work is full',
      reason: 'disk_low',
    });
    const { body } = await stack.call('GET', '/api/v1/sessions/full/logs?limit=1000');
    const log = body.logs.map(({ text }: { text: string }) => text).join('');
    expect(log).toContain('fill the disk');
    await sessions.untilGone(await sessions.jobOf('full'));
    await stack.create('room', 'ping', { ansible_limit: 'b' });
    expect(await sessions.ended('room')).toMatchObject({ succeeded: 'true' });
    const names = ['large', 'room'];
    const kept = await Promise.all(names.map(sessions.jobOf));
    for (const name of names) {
      expect((await stack.call('DELETE', `/v3/sessions/${name}`)).status).toBe(204);
    }
    await sessions.sweep();
    for (const job of kept) await sessions.untilGone(job, 180_000);
  }, 480_000);

  test('a pod that is evicted; a Job that is over its time and that nobody else has ended', async () => {
    const { stack, namespace } = cluster;
    expect((await stack.call('PATCH', '/v3/options', { session_timeout: 3600 })).status).toBe(200);
    const [evicted, overdue] = await Promise.all([
      sessions.running('evicted', 'waits', { ansible_limit: 'a' }),
      sessions.running('overdue', 'waits', { ansible_limit: 'b' }),
    ]);
    const [pod] = await sessions.pods(evicted);
    await evict(pod?.metadata.name ?? '');
    const deadline = ['get', 'job', overdue, '--output', 'jsonpath={.spec.activeDeadlineSeconds}'];
    expect(await namespace.kubectl(deadline)).toBe('3900');
    const sooner = JSON.stringify({ spec: { activeDeadlineSeconds: 1 } });
    await namespace.kubectl(['patch', 'job', overdue, '--type', 'merge', '--patch', sooner]);
    expect(await Promise.all([sessions.ended('evicted'), sessions.ended('overdue')])).toEqual([
      { succeeded: 'false', message: expect.stringMatching(/^EvictionByEvictionAPI: ./), reason: 'evicted' },
      {
        succeeded: 'false',
        message: expect.stringMatching(/longer than specified deadline/),
        reason: 'deadline_exceeded',
      },
    ]);
    for (const job of [evicted, overdue]) {
      await sessions.untilReleased(job);
      expect((await sessions.pods(job)).filter(({ status }) => !/Succeeded|Failed/.test(status?.phase ?? ''))).toEqual(
        [],
      );
    }
    for (const name of ['evicted', 'overdue']) {
      expect((await stack.call('DELETE', `/v3/sessions/${name}`)).status).toBe(204);
    }
    await sessions.sweep();
    for (const job of [evicted, overdue]) await sessions.untilGone(job, 180_000);
    expect((await stack.call('PATCH', '/v3/options', { session_timeout: 0 })).status).toBe(200);
  }, 480_000);

  const restartWith = async (memory: string) => {
    const { stack } = cluster;
    await stack.stop();
    stack.env.MUSTER_RUNNER_REQUESTS = JSON.stringify({ memory });
    stack.env.MUSTER_RUNNER_LIMITS = JSON.stringify({ memory });
    await stack.start();
  };

  test('less memory than it takes; more than any node has', async () => {
    const { stack } = cluster;
    await restartWith('20Mi');
    await stack.create('too-small', 'ping', { ansible_limit: 'a' });
    expect(await sessions.ended('too-small')).toEqual({
      succeeded: 'false',
      message: expect.stringMatching(/container ansible/),
      reason: 'out_of_memory',
    });
    await sessions.untilReleased(await sessions.jobOf('too-small'));
    await restartWith('900Gi');
    await stack.create('too-large', 'ping', { ansible_limit: 'a' });
    await shown('too-large', 'unschedulable', /Insufficient memory/);
    expect(await sessions.ended('too-large')).toEqual({
      succeeded: 'false',
      message: expect.stringMatching(/Insufficient memory/),
      reason: 'unschedulable',
    });
    await sessions.untilGone(await sessions.jobOf('too-large'));
  }, 480_000);
});
