import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type AraServer, startAraServer } from '../../support/ansible/ara-server.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../../support/stack/muster-stack.ts';

const PLAYBOOK = `
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.command: "true"
      changed_when: true
`;

describeNeeding(stackMissing(), 'an ARA server that is configured', () => {
  let stack: MusterStack;
  let ara: AraServer;

  beforeAll(async () => {
    ara = await startAraServer();
    stack = await startMusterStack({
      MUSTER_ARA_URL: ara.url,
      MUSTER_ARA_SERVER_URL: ara.url,
      MUSTER_ARA_CREDENTIALS_FILE: ara.credentialsFile,
    });
  }, 600_000);
  afterAll(async () => {
    await stack?.remove();
    await ara?.stop();
  });

  test('has the runs of a session where the link of the session leads', async () => {
    const repository = await stack.repository('reported');
    await repository.commit({ 'first.yml': PLAYBOOK, 'second.yml': PLAYBOOK });
    await stack.configure('reported', repository.url, ['first.yml', 'second.yml'], ['node0', 'node1']);
    await stack.call('PATCH', '/v3/options', { include_ara_links: true });
    await stack.create('reported', 'reported');
    const session = await stack.untilComplete('reported');
    expect(session.status.session).toMatchObject({ succeeded: 'true' });
    expect(session.logs).toBe(`${ara.url}/?label=reported`);
    const playbooks = await ara.playbooks('reported');
    expect(playbooks.map(({ status }) => status)).toEqual(['completed', 'completed']);
    for (const { id } of playbooks) expect(await ara.hosts(id)).toEqual(['node0', 'node1']);
    const events = JSON.stringify((await stack.call('GET', '/api/v1/sessions/reported/events?limit=1000')).body);
    expect(events).not.toContain('ARA');
    expect(events).not.toContain(ara.password);
  }, 600_000);
});
