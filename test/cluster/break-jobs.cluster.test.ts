import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ClusterProxy, openClusterProxy } from '../support/cluster-proxy.ts';
import { type ClusterStack, startClusterStack } from '../support/cluster-stack.ts';
import { eventually } from '../support/eventually.ts';

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
let way: ClusterProxy;

beforeAll(async () => {
  way = await openClusterProxy();
  cluster = await startClusterStack({
    MUSTER_RUNNER_KUBECONFIG: way.kubeconfig,
  });
  const { stack } = cluster;
  const repository = await stack.repository('config');
  await repository.commit({ 'waiting.yml': WAITING, 'quick.yml': QUICK });
  for (const name of ['waiting', 'quick']) {
    await stack.configure(name, cluster.repositoryUrl('config'), [`${name}.yml`], ['node0']);
  }
}, 300_000);

afterAll(async () => {
  way?.thaw();
  await cluster?.remove();
  await way?.close();
}, 120_000);

/** Starts a session and waits until Ansible runs in its pod; the name of its Job. */
async function running(name: string, configuration: string): Promise<string> {
  await cluster.stack.create(name, configuration);
  return await eventually(
    'Ansible runs in its pod',
    async () => {
      const { body } = await cluster.stack.call('GET', `/v3/sessions/${name}`);
      const job: string | null = body.status.session.job;
      if (job === null) return null;
      const pods = JSON.parse(
        await cluster.namespace.kubectl(['get', 'pods', '-l', `batch.kubernetes.io/job-name=${job}`, '-o', 'json']),
      );
      const statuses: { name: string; state: { running?: object } }[] = pods.items[0]?.status.containerStatuses ?? [];
      return statuses.some((status) => status.name === 'ansible' && status.state.running !== undefined) ? job : null;
    },
    180_000,
  );
}

async function ended(name: string, expected: object, job: string, withinMs = 180_000): Promise<void> {
  const { status } = await cluster.stack.untilComplete(name, withinMs);
  expect(status.session).toMatchObject({ status: 'complete', ...expected });
  await eventually('nothing runs any more', async () => {
    const pods = JSON.parse(
      await cluster.namespace.kubectl(['get', 'pods', '-l', `batch.kubernetes.io/job-name=${job}`, '-o', 'json']),
    );
    return pods.items.every((pod: { status: { phase: string } }) => /Succeeded|Failed/.test(pod.status.phase));
  });
}

const gone = (job: string) =>
  eventually('the Job is gone', async () => !(await cluster.leftovers()).some((name) => name.includes(job)));

describe('a session whose Job is broken from outside', () => {
  test.each(['background', 'foreground'])(
    'its Job is deleted by hand (%s)',
    async (cascade) => {
      const job = await running(`deleted-${cascade}`, 'waiting');
      await cluster.namespace.kubectl(['delete', 'job', job, `--cascade=${cascade}`, '--wait=false']);
      await ended(`deleted-${cascade}`, { succeeded: 'false', message: expect.stringMatching(/deleted/i) }, job);
      await gone(job);
    },
    240_000,
  );

  test('its pod is deleted by force', async () => {
    const job = await running('killed', 'waiting');
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
  }, 480_000);

  test('it is cancelled: nothing of it is left', async () => {
    const job = await running('cancelled', 'waiting');
    const { status } = await cluster.stack.call('POST', '/api/v1/sessions/cancelled/cancel');
    expect(status).toBeLessThan(300);
    await ended('cancelled', { succeeded: 'false', message: expect.stringMatching(/cancel/i) }, job);
    await gone(job);
  }, 480_000);
});

describe('a session whose worker loses the cluster', () => {
  test('the connection is cut while it runs, and comes back', async () => {
    const job = await running('cut', 'quick');
    await way.cut();
    await new Promise((resolve) => setTimeout(resolve, 10_000));
    await way.mend();
    await ended('cut', { succeeded: 'true' }, job, 120_000);
  }, 300_000);
});
