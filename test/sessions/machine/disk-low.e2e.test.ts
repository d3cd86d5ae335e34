import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../../support/stack/muster-stack.ts';

describeNeeding(stackMissing(), 'a disk that is nearly full', () => {
  let stack: MusterStack;

  beforeAll(async () => {
    // More than any disk has: the same to admission as a full one.
    stack = await startMusterStack({ MUSTER_MIN_FREE: '1000000GiB' });
  }, 600_000);
  afterAll(async () => stack?.remove());

  test('stops admission with that reason; the session runs when there is room again', async () => {
    const repository = await stack.repository('disk');
    await repository.commit({
      'site.yml': '- hosts: all\n  gather_facts: false\n  tasks:\n    - ansible.builtin.ping:\n',
    });
    await stack.configure('disk', repository.url, ['site.yml'], ['h1']);
    await stack.create('waits', 'disk');
    const waiting = await eventually('the reason is told', async () => {
      const session = await stack.session('waits');
      return session.reason?.code === 'disk_low' ? session : null;
    });
    expect(waiting.status.session).toMatchObject({ status: 'pending', succeeded: 'none' });
    expect(waiting.status.session.message).toContain('MUSTER_MIN_FREE');

    await stack.stop();
    stack.env.MUSTER_MIN_FREE = '1MiB';
    await stack.start();
    const session = await stack.untilComplete('waits');
    expect(session.status.session.succeeded).toBe('true');
  }, 600_000);
});
