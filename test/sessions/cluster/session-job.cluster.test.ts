import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ClusterStack, startClusterStack } from '../../support/kubernetes/cluster-stack.ts';

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

const SHUT = `
- hosts: node0
  gather_facts: false
  tasks:
    - name: try to get out
      ansible.builtin.shell: |
        grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status | tr -s '\\t\\n' '  '
        for file in /proof /etc/proof /opt/muster/proof; do touch "$file" 2>&1 && echo "wrote $file"; done
        find / -path /proc -prune -o -path '*kubernetes.io*' -print 2>/dev/null
        true
      register: tried
    - ansible.builtin.debug: { msg: "{{ tried.stdout }}" }
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
  await repository.commit({ 'site.yml': SITE, 'half.yml': HALF, 'shut.yml': SHUT });
  await stack.configure('site', cluster.repositoryUrl('config'), ['site.yml', 'half.yml'], ['node0', 'node1', 'node2']);
  await stack.configure('shut', cluster.repositoryUrl('config'), ['shut.yml'], ['node0']);
  await stack.configure('good', cluster.repositoryUrl('config'), ['site.yml'], ['node0', 'node1', 'node2']);
}, 600_000);

afterAll(async () => {
  await cluster?.remove();
}, 240_000);

describe('a session as a Job', () => {
  test('its layers run in the pod, and all they leave is stored', async () => {
    const { stack } = cluster;
    await stack.create('first', 'good');
    const session = await stack.untilComplete('first', 240_000);
    expect(session.status.session).toMatchObject({ status: 'complete', succeeded: 'true' });
    const { body: logs } = await stack.call('GET', '/api/v1/sessions/first/logs?limit=1000');
    const text = logs.logs.map((entry: { text: string }) => entry.text).join('');
    // The user of the restricted image.
    expect(text).toContain('as 1000');
    const { body: component } = await stack.call('GET', '/v3/components/node2?state_details=true');
    expect(component).toMatchObject({ error_count: 0, state: [{ status: 'applied', session_name: 'first' }] });
  }, 360_000);

  test('its containers can do nothing but run: no capability, no way to gain one, a root that is read-only, no token', async () => {
    const { stack } = cluster;
    await stack.create('shut', 'shut');
    expect((await stack.untilComplete('shut', 240_000)).status.session).toMatchObject({ succeeded: 'true' });
    const { body } = await stack.call('GET', '/api/v1/sessions/shut/logs?limit=1000');
    const log = body.logs.map(({ text }: { text: string }) => text).join('');
    const none = '0'.repeat(16);
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) expect(log).toContain(`${set}: ${none}`);
    // 2: by a filter.
    expect(log).toMatch(/NoNewPrivs: 1 .*Seccomp: 2 /);
    expect(log.match(/Read-only file system/g)).toHaveLength(3);
    expect(log).not.toMatch(/wrote \/|kubernetes\.io/);
  }, 360_000);

  test('a layer that fails on one host ends it, with what each host reached', async () => {
    const { stack } = cluster;
    await stack.create('second', 'site');
    const session = await stack.untilComplete('second', 240_000);
    expect(session.status.session).toMatchObject({ succeeded: 'false' });
    expect(session.status.session.message).toContain('layer 2/2 half.yml failed: 1 of 3 hosts failed');
    const { body: node1 } = await stack.call('GET', '/v3/components/node1?state_details=true');
    expect(node1.state.map(({ status }: { status: string }) => status).sort()).toEqual(['applied', 'failed']);
  }, 360_000);
});
