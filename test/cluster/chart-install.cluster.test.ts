import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hostAddress, makeNamespace, type TestNamespace } from '../support/dev-cluster.ts';
import { eventually } from '../support/eventually.ts';
import { type GitHttpServer, startGitHttpServer } from '../support/git-http-server.ts';
import { createRepository } from '../support/git-repository.ts';
import { type InstalledChart, installChart } from '../support/installed-chart.ts';
import { type ServersForPods, startServersForPods } from '../support/servers-for-pods.ts';

const PLAYBOOK = `
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.command: sleep 1
      changed_when: true
`;
let namespace: TestNamespace;
let servers: ServersForPods;
let git: GitHttpServer;
let muster: InstalledChart;
let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-chart-'));
  const repository = await createRepository(join(dir, 'plays'));
  const commit = await repository.commit({ 'short.yml': PLAYBOOK });
  git = await startGitHttpServer({ root: dir, host: hostAddress() });
  namespace = await makeNamespace('muster-chart');
  servers = await startServersForPods();
  muster = await installChart({
    namespace,
    servers,
    dir,
    values: { settings: { MUSTER_ALLOW_LOCAL_CONNECTION: '1', MUSTER_MIN_FREE: '1MiB' } },
  });
  const layers = [{ name: 'short', clone_url: `${git.origin}/plays`, commit, playbook: 'short.yml' }];
  expect(await muster.call('PUT', '/v3/configurations/short', { layers })).toMatchObject({ status: 200 });
  for (const id of ['node0', 'node1']) {
    const tags = { ansible_connection: 'local', ansible_python_interpreter: '/usr/bin/python3' };
    expect(await muster.call('PUT', `/v3/components/${id}`, { tags })).toMatchObject({ status: 200 });
  }
}, 600_000);

afterAll(async () => {
  await git?.stop();
  await namespace?.remove();
  await servers?.stop();
  await rm(dir, { recursive: true, force: true });
}, 180_000);

const start = async (name: string, configuration: string) => {
  // Behind a Service a request may meet the replica that was just killed.
  await eventually(`session ${name} is taken`, async () => {
    const body = { name, configuration_name: configuration };
    const answer = await muster.call('POST', '/v3/sessions', body).catch(() => null);
    return answer?.status === 201 || answer?.status === 409;
  });
};

test('two of API and worker are ready, and the set-up has left no pod', async () => {
  expect([await muster.pods('api'), await muster.pods('worker')].map((pods) => pods.length)).toEqual([2, 2]);
  expect(await muster.pods('migrate')).toEqual([]);
  expect(await muster.call('GET', '/healthz')).toEqual({
    status: 200,
    body: { db_status: 'ok', kafka_status: 'ok' },
  });
});

test('secrets are Secrets of the namespace, named without the right to list them', async () => {
  const answer = await muster.call('PUT', '/api/v1/secrets/of-a-site/password', { value: 'quite-secret' });
  expect(answer.status).toBeLessThan(300);
  const { body } = await muster.call('GET', '/api/v1/secrets');
  expect(body.secrets.map(({ name }: { name: string }) => name)).toContain('of-a-site');
  expect(await namespace.kubectl(['get', 'secret', 'of-a-site', '--output', 'name'])).toContain('of-a-site');
});

test('a session runs as a Job, from the request to its record', async () => {
  await start('first', 'short');
  const session = await muster.untilComplete('first', 240_000);
  expect(session.status.session).toMatchObject({ status: 'complete', succeeded: 'true' });
  const { body: logs } = await muster.call('GET', '/api/v1/sessions/first/logs?limit=1000');
  expect(logs.logs.map(({ text }: { text: string }) => text).join('')).toContain('node1');
}, 300_000);
