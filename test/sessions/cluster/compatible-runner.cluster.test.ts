import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { type ClusterStack, startClusterStack } from '../../support/kubernetes/cluster-stack.ts';
import { hostAddress, imageName } from '../../support/kubernetes/dev-cluster.ts';

const WHO = `
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.command: id -u
      register: who
    - ansible.builtin.fail: { msg: "plays as {{ who.stdout }}" }
      when: inventory_hostname == 'node1'
`;

const FINE = `
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.assert: { that: not cray_cfs_image }
`;

const NOISY = `
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.debug: { msg: "pw is {{ pw }}" }
      changed_when: true
    - ansible.builtin.debug: { msg: "{{ 'noise ' * 1000 }}" }
      changed_when: true
      loop: "{{ range(20) | list }}"
`;

/** Says a line each second. */
const TALKS = `
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.command: sleep 1
      changed_when: true
      loop: "{{ range(1000) | list }}"
`;

let cluster: ClusterStack;
beforeAll(async () => {
  const port = await freePort();
  cluster = await startClusterStack({
    MUSTER_RUNNER_PROFILE: 'compatible',
    MUSTER_RUNNER_AEE_IMAGE: imageName('compatible-runner'),
    MUSTER_RUNNER_API_URL: `http://${hostAddress()}:${port}`,
    MUSTER_API_PORT: String(port),
    MUSTER_API_HOST: '0.0.0.0',
    MUSTER_ALLOWED_HOSTS: hostAddress(),
    MUSTER_TRUST_GATEWAY: '1',
    MUSTER_LOG_MAX: '32KiB',
  });
  const { stack } = cluster;
  const repository = await stack.repository('config');
  await repository.commit({ 'fine.yml': FINE, 'who.yml': WHO, 'noisy.yml': NOISY, 'talks.yml': TALKS });
  await stack.configure('all', cluster.repositoryUrl('config'), ['fine.yml', 'who.yml'], ['node0', 'node1']);
  await stack.configure('fine', cluster.repositoryUrl('config'), ['fine.yml'], ['node0', 'node1']);
  await stack.configure('talks', cluster.repositoryUrl('config'), ['talks.yml'], ['node0']);
  await stack.configure('noisy', cluster.repositoryUrl('config'), ['noisy.yml'], ['node0']);
}, 600_000);
afterAll(async () => {
  await cluster?.remove();
}, 240_000);

const statesOf = async (component: string) => {
  const { body } = await cluster.stack.call('GET', `/v3/components/${component}?state_details=true`);
  return Object.fromEntries(
    body.state.map(({ playbook, status }: { playbook: string; status: string }) => [playbook, status]),
  );
};

const logOf = async (session: string): Promise<string> => {
  const { body } = await cluster.stack.call('GET', `/api/v1/sessions/${session}/logs?limit=1000`);
  return body.logs.map(({ text }: { text: string }) => text).join('');
};

test('an image that knows nothing of Muster runs a session, and its log and what its hosts reached are known', async () => {
  const { stack } = cluster;
  await stack.create('good', 'fine');
  const good = await stack.untilComplete('good', 240_000);
  expect(good.status.session).toMatchObject({ succeeded: 'true' });
  expect(await statesOf('node0')).toEqual({ 'fine.yml': 'applied' });

  await stack.create('bad', 'all');
  const bad = await stack.untilComplete('bad', 240_000);
  expect(bad.status.session).toMatchObject({ succeeded: 'false' });
  expect(await statesOf('node0')).toEqual({ 'fine.yml': 'applied', 'who.yml': 'applied' });
  expect(await statesOf('node1')).toEqual({ 'fine.yml': 'applied', 'who.yml': 'failed' });
  const log = await logOf('bad');
  expect(log).toContain('plays as 0');
  expect(log).toContain('Running who.yml of layer 1');
}, 600_000);

test('its words arrive as they are, its log is kept up to the limit, and words that it would take apart are refused', async () => {
  const { stack, namespace } = cluster;
  await stack.create('noisy', 'noisy', { ansible_passthrough: '-e pw=a$$b$(SESSION_NAME)' });
  expect((await stack.untilComplete('noisy', 240_000)).status.session).toMatchObject({ succeeded: 'true' });
  const log = await logOf('noisy');
  expect(log).toContain('pw is a$$b$(SESSION_NAME)');
  expect(log).toMatch(/noise \n?.*\n\[muster\] all output from here on was left out: [^\n]*\n$/s);
  expect(log.length).toBeLessThan(33 * 1024);
  const { body } = await stack.call('GET', '/api/v1/sessions/noisy/events?limit=1000');
  const warned = body.events.filter((event: object) => JSON.stringify(event).includes('MUSTER_LOG_MAX'));
  expect(warned).toHaveLength(1);

  await stack.create('broken', 'noisy', { ansible_passthrough: '--tags "pw=a -i /other"' });
  const broken = await stack.untilComplete('broken', 240_000);
  expect(broken.status.session).toMatchObject({
    succeeded: 'false',
    message: expect.stringContaining('--tags=pw=a -i /other: a runner image of profile compatible would take'),
  });
  expect(await namespace.kubectl(['get', 'jobs', '-o', 'name'])).not.toContain(broken.status.session.job);
}, 600_000);

test('its log is stored before it is cancelled, though there was no worker when it said that', async () => {
  const { stack, namespace } = cluster;
  await stack.create('talks', 'talks');
  const job = await eventually(
    'it talks',
    async () => {
      const { status } = await stack.session('talks');
      return (await logOf('talks')).includes('(item=2)') ? String(status.session.job) : null;
    },
    180_000,
  );
  const worker = await stack.pidOf('worker');
  let before: string;
  process.kill(worker, 'SIGSTOP');
  try {
    expect((await stack.call('POST', '/api/v1/sessions/talks/cancel')).status).toBeLessThan(300);
    const said = await logOf('talks');
    // Once there is another worker, the pod may go at any moment.
    before = await eventually(
      'it has said more',
      async () => {
        const log = await namespace.kubectl(['logs', `job/${job}`, '--container', 'ansible']);
        return log.split('(item=').length > said.split('(item=').length + 3 ? log : null;
      },
      180_000,
    );
  } finally {
    process.kill(worker, 'SIGKILL');
  }
  expect((await stack.untilComplete('talks', 240_000)).status.session).toMatchObject({
    message: expect.stringMatching(/^cancelled(; not verified: node \S+ has not ended its containers)?$/),
  });
  const items = (log: string) => log.match(/[(]item=\d+[)]/g) ?? [];
  expect(items(await logOf('talks')).join('')).toContain(items(before).join(''));
}, 600_000);

test('a pod that somebody deletes while there is no worker takes the rest of its log along, which is told', async () => {
  const { stack, namespace } = cluster;
  await stack.create('taken', 'talks');
  const job = await eventually(
    'it talks',
    async () => {
      const { status } = await stack.session('taken');
      return (await logOf('taken')).includes('(item=2)') ? String(status.session.job) : null;
    },
    180_000,
  );
  const worker = await stack.pidOf('worker');
  process.kill(worker, 'SIGSTOP');
  const its = ['pod', '--selector', `batch.kubernetes.io/job-name=${job}`];
  try {
    await namespace.kubectl(['delete', ...its, '--wait=false']);
    await eventually(
      'its node has thrown the log away',
      async () => {
        const [name = ''] = (await namespace.kubectl(['get', ...its, '--output', 'name'])).split('\n');
        // Between the end of the container and that, its log may be refused.
        const log = await namespace.kubectl(['logs', name, '--container', 'ansible']).catch(() => '');
        return log.startsWith('unable to retrieve');
      },
      180_000,
    );
  } finally {
    process.kill(worker, 'SIGKILL');
  }
  const { message } = (await stack.untilComplete('taken', 240_000)).status.session;
  expect(message).toMatch(/^pod \S+ was deleted$/);
  expect(await logOf('taken')).not.toContain('retrieve container logs');
  const { body } = await stack.call('GET', '/api/v1/sessions/taken/events?limit=1000');
  expect(JSON.stringify(body.events)).toContain('its node has thrown it away with its container');
}, 600_000);
