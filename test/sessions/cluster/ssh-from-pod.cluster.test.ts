import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type SshServer, sshMissing, startSshServer } from '../../support/ansible/ssh-server.ts';
import { eventually } from '../../support/eventually.ts';
import { openProxy, type TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { type ClusterStack, startClusterStack } from '../../support/kubernetes/cluster-stack.ts';
import { hostAddress } from '../../support/kubernetes/dev-cluster.ts';
import { describeNeeding } from '../../support/requirement.ts';

const SITE = `
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.command: cat /proc/self/comm
      changed_when: true
    - ansible.builtin.assert: { that: "not cray_cfs_image" }
`;

describeNeeding(sshMissing(), 'a pod without any right, and hosts with a real sshd', () => {
  let cluster: ClusterStack;
  const servers: SshServer[] = [];
  const ways: TcpProxy[] = [];

  beforeAll(async () => {
    cluster = await startClusterStack();
    const { stack } = cluster;
    const trustedAuthorities = await eventually('there is a certificate authority', async () => {
      const { status, body } = await stack.call('GET', '/api/v1/trust/ca');
      return status === 200 ? String(body) : null;
    });
    servers.push(await startSshServer(join(stack.dataDir, 'certificate'), { trustedAuthorities }));
    servers.push(await startSshServer(join(stack.dataDir, 'key')));
    const key = await readFile(servers[1]?.keyFile ?? '', 'utf8');
    expect((await stack.call('PUT', '/api/v1/secrets/muster-ssh/private', { value: key })).status).toBeLessThan(300);
    for (const { port } of servers) ways.push(await openProxy(`127.0.0.1:${port}`, hostAddress()));
    const repository = await stack.repository('config');
    await repository.commit({ 'site.yml': SITE });
    await stack.configure('site', cluster.repositoryUrl('config'), ['site.yml'], []);
    const components = ['by-certificate', 'by-key'].map((id, index) => ({
      id,
      enabled: false,
      tags: {
        ansible_host: hostAddress(),
        ansible_port: ways[index]?.address.split(':')[1] ?? '',
        ansible_user: servers[index]?.user ?? '',
        ansible_connection: 'ssh',
        ansible_python_interpreter: '/usr/bin/python3',
      },
    }));
    expect((await stack.call('PUT', '/v3/components', components)).status).toBe(200);
  }, 600_000);
  afterAll(async () => {
    for (const way of ways) await way.cut();
    for (const server of servers) await server.stop();
    await cluster?.remove();
  }, 240_000);

  test('it reaches the one that trusts certificates and the one that knows the key', async () => {
    const { stack } = cluster;
    await stack.create('over-ssh', 'site');
    const session = await stack.untilComplete('over-ssh', 240_000);
    const { body } = await stack.call('GET', '/api/v1/sessions/over-ssh/logs?limit=1000');
    const log = body.logs.map(({ text }: { text: string }) => text).join('');
    expect({ ...session.status.session, log }).toMatchObject({ succeeded: 'true' });
    for (const id of ['by-certificate', 'by-key']) {
      const { body: component } = await stack.call('GET', `/v3/components/${id}?state_details=true`);
      expect(component.state).toMatchObject([{ status: 'applied', session_name: 'over-ssh' }]);
    }
  }, 480_000);
});
