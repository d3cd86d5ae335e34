import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { type ClusterProxy, openClusterProxy } from '../../support/kubernetes/cluster-proxy.ts';
import { type ClusterStack, startClusterStack } from '../../support/kubernetes/cluster-stack.ts';
import { type JobSessions, openJobSessions } from '../../support/kubernetes/job-sessions.ts';

const WAITING = `
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.command: sleep 600
      changed_when: true
`;
const QUICK = `
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.command: sleep 15
      changed_when: true
`;
let cluster: ClusterStack;
let sessions: JobSessions;
let way: ClusterProxy;

beforeAll(async () => {
  way = await openClusterProxy();
  cluster = await startClusterStack({
    MUSTER_RUNNER_KUBECONFIG: way.kubeconfig,
  });
  sessions = openJobSessions(cluster);
  const { stack } = cluster;
  const repository = await stack.repository('config');
  await repository.commit({ 'waiting.yml': WAITING, 'quick.yml': QUICK });
  for (const name of ['waiting', 'quick']) {
    await stack.configure(name, cluster.repositoryUrl('config'), [`${name}.yml`], ['node0', 'node1', 'node2', 'node3']);
  }
}, 600_000);

afterAll(async () => {
  way?.thaw();
  await cluster?.remove();
  await way?.close();
}, 240_000);

async function ended(name: string, expected: object, job: string, withinMs = 240_000): Promise<void> {
  expect(await sessions.ended(name, withinMs)).toMatchObject(expected);
  await eventually(
    'nothing runs any more',
    async () => (await sessions.pods(job)).every(({ status }) => /Succeeded|Failed/.test(status?.phase ?? '')),
    180_000,
  );
}

describe('a session whose Job is broken from outside', () => {
  test.each(['background', 'foreground'])(
    'its Job is deleted by hand (%s)',
    async (cascade) => {
      const job = await sessions.running(`deleted-${cascade}`, 'waiting');
      await cluster.namespace.kubectl(['delete', 'job', job, `--cascade=${cascade}`, '--wait=false']);
      await ended(`deleted-${cascade}`, { succeeded: 'false', message: expect.stringMatching(/deleted/i) }, job);
      await sessions.untilGone(job);
    },
    480_000,
  );

  test('its pod is deleted by force', async () => {
    const job = await sessions.running('killed', 'waiting');
    await cluster.namespace.kubectl([
      'delete',
      'pod',
      '-l',
      `batch.kubernetes.io/job-name=${job}`,
      '--force',
      '--grace-period=0',
      '--wait=false',
    ]);
    await ended('killed', { succeeded: 'false', message: expect.stringMatching(/deleted/i) }, job);
  }, 900_000);

  test('it is cancelled: nothing of it is left', async () => {
    const job = await sessions.running('cancelled', 'waiting');
    const { status } = await cluster.stack.call('POST', '/api/v1/sessions/cancelled/cancel');
    expect(status).toBeLessThan(300);
    await ended('cancelled', { succeeded: 'false', message: expect.stringMatching(/cancel/i) }, job);
    await sessions.untilGone(job);
  }, 900_000);
});

describe('a session whose worker loses the cluster', () => {
  test('the connection is cut while it runs, and comes back', async () => {
    const job = await sessions.running('cut', 'quick');
    await way.cut();
    await delay(10_000);
    await way.mend();
    await ended('cut', { succeeded: 'true' }, job);
  }, 600_000);

  test('the connection stalls for 90 s or more: what happens meanwhile is recorded when it passes again', async () => {
    const { stack, namespace } = cluster;
    const on = (host: string) => ({ ansible_limit: host });
    const [through, cancelled, deleted] = await Promise.all([
      sessions.running('stalled', 'quick', on('node0')),
      sessions.running('stalled-cancelled', 'waiting', on('node1')),
      sessions.running('stalled-deleted', 'waiting', on('node2')),
    ]);
    way.freeze();
    const frozen = delay(90_000);
    await stack.create('stalled-created', 'quick', on('node3'));
    expect((await stack.call('POST', '/api/v1/sessions/stalled-cancelled/cancel')).status).toBeLessThan(300);
    await namespace.kubectl(['delete', 'job', deleted, '--cascade=foreground', '--wait=false']);
    await eventually(
      'the record says that the cluster is away',
      async () => {
        const { reason } = await stack.session('stalled-deleted');
        return reason?.code === 'cluster_unavailable' && /trying again/.test(reason.message);
      },
      180_000,
    );
    await eventually(
      'the Job of the first ends in the cluster',
      async () => (await sessions.pods(through)).every(({ status }) => status?.phase === 'Succeeded'),
      180_000,
    );
    await frozen;
    way.thaw();
    const good = { succeeded: 'true', message: '1 layer done on 1 host', reason: null };
    await ended('stalled', good, through);
    await ended('stalled-deleted', { succeeded: 'false', reason: 'job_deleted' }, deleted);
    const verified = expect.not.stringContaining('not verified');
    await ended('stalled-cancelled', { succeeded: 'false', reason: 'cancelled', message: verified }, cancelled);
    const created = await sessions.jobOf('stalled-created');
    await ended('stalled-created', good, created);
    for (const job of [through, created]) await sessions.untilReleased(job);
    for (const job of [cancelled, deleted]) await sessions.untilGone(job);
  }, 800_000);
});
