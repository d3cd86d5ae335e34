/** The batcher is killed again and again while it works: every component is configured, in one session, and no two overlap. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { BATCHER_WORKFLOW_ID } from '../../domain/batches/workflow-id.ts';
import { eventually } from '../support/eventually.ts';
import { describeNeeding } from '../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

const HOSTS = Array.from({ length: 60 }, (_, n) => `h${String(n).padStart(2, '0')}`);
const SIZE = 5;
const PLAYBOOK = `
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.command: "true"
      changed_when: false
`;

describeNeeding(stackMissing(), 'a batcher whose processes are killed', () => {
  let stack: MusterStack;
  beforeAll(async () => {
    // No playbook has to run: what is tested is who makes which session.
    stack = await startMusterStack({ MUSTER_PLAYBOOK_COMMAND: '/bin/true' }, 'own');
    const { url, commit } = await stack.repository('plays');
    await commit({ 'site.yml': PLAYBOOK });
    await stack.configure('site', url, ['site.yml'], HOSTS);
  }, 600_000);
  afterAll(() => stack?.remove());

  const count = async (query: string) => {
    const [row] = await stack.sql<{ n: number }>(query);
    return row?.n ?? 0;
  };
  const sent = () => count(`select count(*)::int as n from sessions where actor = 'batcher'`);
  const configured = () => count(`select count(*)::int as n from components where state <> '[]'`);

  test('makes each session once, whatever is killed', async () => {
    const options = { batch_size: SIZE, batch_window: 1, max_running_sessions: 2 };
    expect((await stack.call('PATCH', '/v3/options', options)).status).toBe(200);
    // A pass that has begun goes on with the options of its beginning, and could send 25 at once.
    const patchedAt = new Date().toISOString();
    const later = `select count(*)::int as n from batcher_state where last_pass_at > '${patchedAt}'`;
    await eventually('a pass with these options', async () => (await count(later)) > 0, 240_000);
    const patch = { desired_config: 'site', enabled: true };
    expect((await stack.call('PATCH', '/v3/components', { patch, filters: { config_name: '' } })).status).toBe(200);
    await eventually('the first session', async () => (await sent()) > 0, 240_000);
    await stack.kill('worker');
    await eventually('some are configured', async () => (await configured()) >= 2 * SIZE, 240_000);
    await stack.temporal((client) => client.workflow.getHandle(BATCHER_WORKFLOW_ID).terminate('by hand'));
    await stack.kill('postgres');
    await eventually('more are configured', async () => (await configured().catch(() => 0)) >= 5 * SIZE, 240_000);
    await stack.killAll();
    await stack.start();
    await eventually('all are configured', async () => (await configured()) === HOSTS.length, 240_000);
    expect(await sent()).toBe(HOSTS.length / SIZE);
    const hosts = await stack.sql<{ host: string; sessions: number }>(
      `select host, count(*)::int as sessions from sessions, unnest(string_to_array(ansible_limit, ',')) as host
       where actor = 'batcher' group by host having count(*) > 1`,
    );
    expect(hosts).toEqual([]);
    await eventually(
      'all batches have ended',
      async () => (await count(`select count(*)::int as n from batches where state <> 'ended'`)) === 0,
    );
    const left = () =>
      count(`select (select count(*) from component_leases)::int + (select count(*) from batch_members)::int as n`);
    await eventually('nothing is held any more', async () => (await left()) === 0, 240_000, left);
  }, 600_000);
});
