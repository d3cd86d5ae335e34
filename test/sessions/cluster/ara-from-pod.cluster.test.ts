import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type AraServer, startAraServer } from '../../support/ansible/ara-server.ts';
import { type ClusterStack, startClusterStack } from '../../support/kubernetes/cluster-stack.ts';
import { hostAddress } from '../../support/kubernetes/dev-cluster.ts';

let cluster: ClusterStack;
let ara: AraServer;

beforeAll(async () => {
  ara = await startAraServer(hostAddress());
  cluster = await startClusterStack({
    MUSTER_ARA_SERVER_URL: ara.url,
    MUSTER_ARA_CREDENTIALS_FILE: ara.credentialsFile,
  });
  const { stack } = cluster;
  const repository = await stack.repository('config');
  await repository.commit({
    'site.yml':
      '- hosts: all\n  gather_facts: false\n  tasks:\n    - ansible.builtin.command: sleep 1\n      changed_when: true\n',
  });
  await stack.configure('reported', cluster.repositoryUrl('config'), ['site.yml'], ['node0', 'node1']);
}, 600_000);

afterAll(async () => {
  await cluster?.remove();
  await ara?.stop();
}, 240_000);

test('a run in a pod is reported to ARA with the password of its session’s Secret, which no container shows', async () => {
  const { stack, namespace } = cluster;
  await stack.create('reported', 'reported');
  const session = await stack.untilComplete('reported', 240_000);
  expect(session.status.session).toMatchObject({ status: 'complete', succeeded: 'true' });
  const [playbook] = await ara.playbooks('reported');
  expect(playbook?.status).toBe('completed');
  expect(await ara.hosts(playbook?.id ?? 0)).toEqual(['node0', 'node1']);
  expect(await namespace.kubectl(['get', 'jobs,pods', '--output', 'json'])).not.toContain(ara.password);
}, 360_000);
