/** The retry limit with real playbooks: what is behind is configured without a hand, what always fails is tried as often as its policy says. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { describeNeeding } from '../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

const HOSTS = Array.from({ length: 25 }, (_, n) => `h${String(n).padStart(2, '0')}`);
const BAD = 'h07';
const PLAYBOOK = `
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.fail:
        msg: never works
      when: inventory_hostname == '${BAD}'
`;
const GOOD = `
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.debug:
        msg: works
`;

describeNeeding(stackMissing(), 'a playbook that always fails on one host of 25', () => {
  let stack: MusterStack;
  beforeAll(async () => {
    stack = await startMusterStack();
    const { url, commit } = await stack.repository('plays');
    await commit({ 'bad.yml': PLAYBOOK, 'good.yml': GOOD });
    await stack.call('PATCH', '/v3/options', { batch_window: 1, batcher_check_interval: 5 });
    await stack.configure('bad', url, ['bad.yml'], HOSTS);
    await stack.configure('good', url, ['good.yml'], []);
  }, 900_000);
  afterAll(() => stack?.remove());

  const patch = (patch: object, ids = [BAD]) =>
    stack.call('PATCH', '/v3/components', { patch, filters: { ids: ids.join(',') } });
  const count = async (status: string) =>
    (await stack.call('GET', `/v3/components?status=${status}`)).body.components.length;
  /** Waits until the bad host is as said, and nothing is under way. */
  const settled = (status: string) =>
    eventually(
      `${BAD} is ${status}`,
      async () => {
        const { body } = await stack.call('GET', `/v3/components/${BAD}`);
        const [row] = await stack.sql<{ live: number }>(
          `select count(*)::int as live from batches where state <> 'ended'`,
        );
        return body.configuration_status === status && row?.live === 0 ? body : null;
      },
      300_000,
    );
  /** How many sessions tried the bad host. */
  const tries = async () => {
    const rows = await stack.sql<{ tries: number }>(
      `select count(*)::int as tries from sessions where $1 = any(string_to_array(ansible_limit, ',')) and actor = 'batcher'`,
      [BAD],
    );
    return rows[0]?.tries;
  };
  /** Two passes that found nothing to do. */
  const twoMorePasses = async () => {
    const at = async () => {
      const rows = await stack.sql<{ at: Date }>('select last_pass_at as at from batcher_state');
      return rows[0]?.at.getTime() ?? 0;
    };
    for (let pass = 0; pass < 2; pass += 1) {
      const before = await at();
      await eventually('another pass', async () => (await at()) > before, 240_000);
    }
  };

  test('leaves 24 configured and that one failed after exactly its policy', async () => {
    await patch({ desired_config: 'bad', enabled: true, retry_policy: 2 }, HOSTS);
    const failed = await settled('failed');
    expect(failed.error_count).toBe(2);
    expect(await count('configured')).toBe(24);
    expect(await count('failed')).toBe(1);
    expect(await tries()).toBe(2);
    await twoMorePasses();
    expect(await tries()).toBe(2);
  }, 900_000);

  test('is tried again when the policy is raised', async () => {
    await patch({ retry_policy: 3 });
    await eventually('a third try', async () => (await tries()) === 3, 300_000);
    expect((await settled('failed')).error_count).toBe(3);
    expect(await tries()).toBe(3);
  }, 900_000);

  test('is tried again when the error count is cleared', async () => {
    await patch({ error_count: 0, retry_policy: 1 });
    await eventually('another try', async () => (await tries()) === 4, 300_000);
    expect((await settled('failed')).error_count).toBe(1);
    expect(await tries()).toBe(4);
  }, 900_000);

  test('goes on without end when the policy is -1', async () => {
    await patch({ retry_policy: -1 });
    await eventually('three more', async () => ((await tries()) ?? 0) >= 7, 400_000);
    const { body } = await stack.call('GET', `/v3/components/${BAD}`);
    expect(body.configuration_status).toBe('pending');
  }, 900_000);

  test('is configured when another configuration is desired', async () => {
    await patch({ desired_config: 'good', retry_policy: 3 });
    const { error_count, state } = await settled('configured');
    expect(error_count).toBe(0);
    expect(state ?? (await stack.call('GET', `/v3/components/${BAD}?state_details=true`)).body.state).toEqual(
      expect.arrayContaining([expect.objectContaining({ playbook: 'good.yml', status: 'applied' })]),
    );
    expect(await count('configured')).toBe(25);
  }, 900_000);
});
