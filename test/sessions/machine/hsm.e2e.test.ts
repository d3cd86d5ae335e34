import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeNeeding } from '../../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../../support/stack/muster-stack.ts';

/** The worked example of cfs-flows 3.1. */
const ANSWERS: Record<string, unknown> = {
  '/hsm/v2/groups': [
    { label: 'gpu', members: { ids: ['x1'] } },
    { label: 'bad-name', members: { ids: ['x2'] } },
  ],
  '/hsm/v2/partitions': [{ name: 'p1', members: { ids: ['x1', 'x2'] } }],
  '/hsm/v2/State/Components?type=node': {
    Components: [{ ID: 'x1', Role: 'Compute' }, { ID: 'x2', Role: 'Application', SubRole: 'UAN' }, { ID: 'x3' }],
  },
};

describeNeeding(stackMissing(), 'an inventory from a hardware state manager', () => {
  let stack: MusterStack;
  let manager: Server;

  beforeAll(async () => {
    manager = createServer((request, response) => {
      const answer = ANSWERS[request.url ?? ''];
      response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer ?? {}));
    });
    await new Promise<void>((resolve) => manager.listen(0, '127.0.0.1', resolve));
    const { port } = manager.address() as AddressInfo;
    stack = await startMusterStack({
      MUSTER_INVENTORY: 'hsm',
      MUSTER_HSM_URL: `http://127.0.0.1:${port}/hsm/v2`,
    });
  }, 600_000);
  afterAll(async () => {
    await stack?.remove();
    manager?.closeAllConnections();
    await new Promise((resolve) => manager?.close(resolve));
  });

  test('its groups, partitions and roles are there; what is left out is told', async () => {
    const repository = await stack.repository('hsm');
    await repository.commit({
      'site.yml':
        '- hosts: gpu:Application_UAN\n  gather_facts: false\n  tasks:\n    - ansible.builtin.command: "true"\n      changed_when: false\n',
    });
    await stack.configure('hsm', repository.url, ['site.yml'], ['x9']);
    await stack.create('hsm', 'hsm', { ansible_passthrough: '-e ansible_connection=local' });
    const session = await stack.untilComplete('hsm');
    expect(session.status.session).toMatchObject({ succeeded: 'true', message: '1 layer done on 2 hosts' });
    const hosts = JSON.stringify((await stack.call('GET', '/api/v1/sessions/hsm/hosts')).body);
    for (const host of ['x1', 'x2']) expect(hosts).toContain(`"${host}"`);
    for (const host of ['x3', 'x9']) expect(hosts).not.toContain(`"${host}"`);
    expect(JSON.stringify((await stack.call('GET', '/api/v1/sessions/hsm/events')).body)).toContain('bad-name');
  }, 600_000);
});
