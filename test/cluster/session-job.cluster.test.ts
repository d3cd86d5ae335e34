import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ClusterStack, startClusterStack } from '../support/cluster-stack.ts';

const SITE = `
- hosts: all
  gather_facts: false
  tasks:
    - name: say who
      ansible.builtin.command: id -u
      register: who
      changed_when: true
    - ansible.builtin.debug: { msg: "as {{ who.stdout }}" }
      changed_when: true
`;

const HALF = `
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.fail: { msg: not today }
      when: inventory_hostname == 'node1'
`;

let cluster: ClusterStack;

beforeAll(async () => {
  cluster = await startClusterStack();
  const { stack } = cluster;
  const repository = await stack.repository('config');
  await repository.commit({ 'site.yml': SITE, 'half.yml': HALF });
  await stack.configure('site', cluster.repositoryUrl('config'), ['site.yml', 'half.yml'], ['node0', 'node1', 'node2']);
  await stack.configure('good', cluster.repositoryUrl('config'), ['site.yml'], ['node0', 'node1', 'node2']);
}, 300_000);

afterAll(async () => {
  await cluster?.remove();
}, 120_000);

describe('a session as a Job', () => {
  test('its layers run in the pod, and all they leave is stored', async () => {
    const { stack } = cluster;
    await stack.create('first', 'good');
    const session = await stack.untilComplete('first', 120_000);
    expect(session.status.session).toMatchObject({ status: 'complete', succeeded: 'true' });
    const { body: logs } = await stack.call('GET', '/api/v1/sessions/first/logs?limit=1000');
    const text = logs.logs.map((entry: { text: string }) => entry.text).join('');
    // The user of the restricted image.
    expect(text).toContain('as 1000');
    const { body: component } = await stack.call('GET', '/v3/components/node2?state_details=true');
    expect(component).toMatchObject({ error_count: 0, state: [{ status: 'applied', session_name: 'first' }] });
  }, 180_000);

  test('a layer that fails on one host ends it, with what each host reached', async () => {
    const { stack } = cluster;
    await stack.create('second', 'site');
    const session = await stack.untilComplete('second', 120_000);
    expect(session.status.session).toMatchObject({ succeeded: 'false' });
    expect(session.status.session.message).toContain('layer 1 (half.yml) failed: 1 of 3 hosts failed');
    const { body: node1 } = await stack.call('GET', '/v3/components/node1?state_details=true');
    expect(node1.state.map(({ status }: { status: string }) => status).sort()).toEqual(['applied', 'failed']);
  }, 180_000);
});
