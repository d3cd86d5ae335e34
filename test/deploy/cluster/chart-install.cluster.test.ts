import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { eventually } from '../../support/eventually.ts';
import { type ChartSite, makeChartSite } from '../../support/kubernetes/chart-site.ts';
import { clusterStatus } from '../../support/kubernetes/cluster-command.ts';
import { startRestrictedPod } from '../../support/kubernetes/cluster-pod.ts';
import { hostAddress, imageName, kubeconfigPath, type TestNamespace } from '../../support/kubernetes/dev-cluster.ts';
import { CHART, helm } from '../../support/kubernetes/helm.ts';
import type { InstalledChart } from '../../support/kubernetes/installed-chart.ts';
import { describeNeeding } from '../../support/requirement.ts';

/** Says of each address, `host:port`, whether a connection to it is made. */
const REACH = `
import socket
import sys

for way in sys.argv[1:]:
    host, port = way.rsplit(':', 1)
    try:
        socket.create_connection((host, int(port)), 5).close()
        print(way, 'open')
    except OSError:
        print(way, 'closed')
`;
const REACH_PLAYBOOK = `
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.command: python3 {{ playbook_dir }}/reach.py {{ ways }}
      register: answer
      changed_when: false
    # What changes nothing is not in the log.
    - ansible.builtin.debug: { msg: "{{ item }}" }
      loop: "{{ answer.stdout_lines }}"
      changed_when: true
`;
const { provider } = await clusterStatus();
const noRules = provider === 'own' ? null : `rules can be made on the machine's own cluster only, this is ${provider}`;
let site: ChartSite;
let muster: InstalledChart;

beforeAll(async () => {
  site = await makeChartSite({ 'reach.yml': REACH_PLAYBOOK, 'reach.py': REACH }, {}, { jobsApart: true });
  // Its own network policies hold for everything here, from the first pod on.
  if (noRules === null) await site.imposePolicies();
  await site.secure();
  muster = await site.install();
}, 900_000);

afterAll(() => site?.remove(), 360_000);

const start = (name: string) => muster.start(name, 'gate', { ansible_passthrough: `-e who=${name}` });

async function expectSucceeded(names: readonly string[]): Promise<void> {
  for (const name of names) {
    const { status } = await muster.untilComplete(name);
    expect([name, status.session]).toEqual([name, expect.objectContaining({ status: 'complete', succeeded: 'true' })]);
  }
}

test('two of API and worker are ready, and the set-up has left no pod', async () => {
  expect([await muster.pods('api'), await muster.pods('worker')].map((pods) => pods.length)).toEqual([2, 2]);
  expect(await muster.pods('migrate')).toEqual([]);
  expect(await muster.call('GET', '/healthz')).toEqual({
    status: 200,
    body: { db_status: 'ok', kafka_status: 'ok' },
  });
});

test('it says how to reach it by TLS, which is all that it speaks', async () => {
  const said = await muster.notes();
  expect(said).toContain('./muster session list --url https://localhost:8100\n');
  expect(said).toContain(`muster-ingest.${site.namespace.name}.svc`);
  expect(said).not.toContain('plain HTTP');
  const worker = await site.namespace.kubectl(['get', 'deployment', 'muster-worker', '--output', 'yaml']);
  expect(worker).toContain('https://muster-ingest.$(RELEASE_NAMESPACE).svc:8101');
});

test('another release gets no hold of the namespace of its Jobs, which each would end as leftovers', async () => {
  const values = [
    'database.existingSecret=muster-database',
    'access.adminToken.existingSecret=muster-admin',
    'temporal.address=temporal:7233',
    `runner.namespace=${site.jobs.name}`,
  ];
  const where = ['--namespace', site.namespace.name, '--kubeconfig', kubeconfigPath(), '--dry-run=server'];
  const install = (...more: string[]) =>
    helm(['install', 'other', CHART, ...where, ...[...values, ...more].flatMap((value) => ['--set', value])]);
  await expect(install()).rejects.toThrow(
    `runner.namespace: ${site.jobs.name} is the namespace of the Jobs of release muster in namespace ${site.namespace.name}`,
  );
  await install('runner.namespace=');
});

test('no upgrade takes the Jobs to another namespace, where nobody would end those of before nor find the keys', async () => {
  const where = ['--namespace', site.namespace.name, '--kubeconfig', kubeconfigPath(), '--dry-run=server'];
  const upgrade = (space: string) =>
    helm(['upgrade', 'muster', CHART, ...where, '--reuse-values', '--set', `runner.namespace=${space}`]);
  const stays = `runner.namespace: the Jobs of this release are in namespace ${site.jobs.name}`;
  await expect(upgrade('')).rejects.toThrow(stays);
  await expect(upgrade('elsewhere')).rejects.toThrow(stays);
  await upgrade(site.jobs.name);
});

test('secrets are Secrets of the namespace of Jobs, named without the right to list them', async () => {
  const answer = await muster.call('PUT', '/api/v1/secrets/of-a-site/password', { value: 'quite-secret' });
  expect(answer.status).toBeLessThan(300);
  const { body } = await muster.call('GET', '/api/v1/secrets');
  expect(body.secrets.map(({ name }: { name: string }) => name)).toContain('of-a-site');
  expect(await site.jobs.kubectl(['get', 'secret', 'of-a-site', '--output', 'name'])).toContain('of-a-site');
});

describeNeeding(noRules, 'what the policies do not allow', () => {
  test('a Job reaches the ingest port and what playbooks need, and nothing of what Muster stands on', async () => {
    const { namespace, servers, git, gate } = site;
    const [worker] = await muster.pods('worker');
    const workerAddress = await namespace.kubectl(['get', 'pod', worker ?? '', '-o', 'jsonpath={.status.podIP}']);
    const database = `${hostAddress()}:${servers.databasePort}`;
    const temporal = servers.temporalAddress;
    const api = `muster.${namespace.name}.svc:8100`;
    const needed = [
      `muster-ingest.${namespace.name}.svc:8101`,
      new URL(git.origin).host,
      `${hostAddress()}:${gate.port}`,
    ];
    const closed = [database, temporal, 'kubernetes.default.svc:443', api, `${workerAddress}:8102`];
    const ways = [...needed, ...closed];
    await muster.start('reach', 'reach', { ansible_passthrough: `-e 'ways="${ways.join(' ')}"'` });
    await expectSucceeded(['reach']);
    const { body } = await muster.call('GET', '/api/v1/sessions/reach/logs?limit=1000');
    const text = body.logs.map((entry: { text: string }) => entry.text).join('');
    const found = ways.map((way) => new RegExp(`${RegExp.escape(way)} (open|closed)`).exec(text)?.[0]);
    expect(found).toEqual([...needed.map((way) => `${way} open`), ...closed.map((way) => `${way} closed`)]);

    // They are there: a pod that is none of Muster's gets through to all but the worker, which takes in nobody.
    const command = ['python3', '-c', REACH, database, temporal, api, `${workerAddress}:8102`];
    const other = await startRestrictedPod(namespace, { image: imageName('util'), command });
    const { output } = await other.end();
    await namespace.kubectl(['delete', 'pod', other.name, '--wait=false']);
    expect(output.match(/open|closed/g)).toEqual(['open', 'open', 'open', 'closed']);
  }, 480_000);
});

test('every replica is killed, one after another, while sessions run: each of them is done, once', async () => {
  const names = [0, 1, 2, 3, 4].map((index) => `before-${index}`);
  for (const name of names) await start(name);
  await site.gate.untilThere(names);
  const before = await site.sessionPods();
  for (const part of ['api', 'worker']) {
    const pods = await muster.pods(part);
    expect(pods).toHaveLength(2);
    for (const pod of pods) {
      await muster.kill(part, pod);
      const late = `after-${pod}`;
      await start(late);
      names.push(late);
    }
  }
  await site.gate.untilThere(names);
  expect(await site.sessionPods()).toMatchObject(before);
  site.gate.open();
  await expectSucceeded(names);
  expect(site.gate.arrivals()).toEqual(Object.fromEntries(names.map((name) => [name, 1])));
}, 800_000);

test('the release is removed while a session runs: nothing of it is left, and how it ended is stored', async () => {
  const { namespace, jobs, gate } = site;
  gate.shut();
  await start('removed');
  await gate.untilThere(['removed']);
  const { body } = await muster.call('GET', '/v3/sessions/removed');
  const { job } = body.status.session;
  const objectsIn = async ({ kubectl }: TestNamespace) =>
    (await kubectl(['get', 'all,secrets,roles,networkpolicies', '--output', 'name'])).split('\n');
  const objects = async () => [...(await objectsIn(namespace)), ...(await objectsIn(jobs))];
  expect(await objectsIn(jobs)).toEqual(expect.arrayContaining([`job.batch/${job}`, `secret/${job}`]));
  await muster.uninstall();
  // What stays are Secrets of the site, and its configuration. Those of Jobs follow their Jobs.
  await eventually(
    'its pods are gone, and the Secrets of Jobs',
    async () => (await objects()).every((name) => /^secret\/(?!cfs-)|^$/.test(name)),
    180_000,
    objects,
  );

  const client = new pg.Client({ connectionString: site.servers.databaseUrl });
  await client.connect();
  const { rows } = await client.query(`select status, succeeded, message from sessions where name = 'removed'`);
  await client.end();
  expect(rows).toEqual([{ status: 'complete', succeeded: 'false', message: expect.stringMatching(/deleted/i) }]);
}, 600_000);
