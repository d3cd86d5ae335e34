import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type ClusterStack, startClusterStack } from '../../support/kubernetes/cluster-stack.ts';
import { type JobSessions, openJobSessions } from '../../support/kubernetes/job-sessions.ts';

const PLAYBOOK = `
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.command: hostname
      changed_when: true
    - ansible.builtin.command: sleep 2
      changed_when: true
`;

let cluster: ClusterStack;
let sessions: JobSessions;

beforeAll(async () => {
  cluster = await startClusterStack({ MUSTER_RUNNER: 'local' }, 'default');
  sessions = openJobSessions(cluster);
  const repository = await cluster.stack.repository('config');
  await repository.commit({ 'site.yml': PLAYBOOK });
  await cluster.stack.configure('site', cluster.repositoryUrl('config'), ['site.yml'], ['node0']);
}, 600_000);

afterAll(async () => {
  await cluster?.remove();
}, 240_000);

test('a session says where it runs: here, or as a Job with what a site gets that sets nothing', async () => {
  const { stack } = cluster;
  await stack.create('here', 'site');
  const job = await sessions.running('there', 'site', { muster: { runner: 'kubernetes' } });
  const [pod] = await sessions.pods(job);
  const ansible = pod?.spec?.containers?.find(({ name }) => name === 'ansible');
  expect(ansible?.resources).toEqual({
    requests: { cpu: '500m', memory: '4Gi' },
    limits: { cpu: '8', memory: '6Gi' },
  });
  const good = { succeeded: 'true', message: '1 layer done on 1 host', reason: null };
  expect([await sessions.ended('here'), await sessions.ended('there')]).toEqual([good, good]);
  expect(await cluster.namespace.names('jobs')).toEqual([job]);
}, 600_000);
