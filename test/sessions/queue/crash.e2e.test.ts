import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ComponentName } from '../../../deploy/stack/stack-state.ts';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../../support/stack/muster-stack.ts';

const SESSIONS = 20;
const KILLS = 12;

describeNeeding(stackMissing(), 'when processes are killed', () => {
  let stack: MusterStack;
  let journal: string;

  beforeAll(async () => {
    stack = await startMusterStack({ MUSTER_LOCAL_RUNS: '4' }, 'own');
    journal = join(stack.dataDir, 'journal');
    const repository = await stack.repository('crash');
    await repository.commit({
      'slow.yml': `
- hosts: all
  gather_facts: false
  tasks:
    - name: note the start
      ansible.builtin.raw: echo "start $SESSION_NAME" >> ${journal}
    - name: take a while
      ansible.builtin.raw: sleep 2
    - name: note the end
      ansible.builtin.raw: echo "end $SESSION_NAME" >> ${journal}
`,
    });
    const hosts = Array.from({ length: SESSIONS }, (_, index) => `h${index}`);
    await stack.configure('crash', repository.url, ['slow.yml'], hosts);
  }, 600_000);
  afterAll(async () => stack?.remove());

  const count = async (text: string) =>
    (await readFile(journal, 'utf8').catch(() => '')).split('\n').filter((line) => line === text).length;

  test('the worker in the middle of a playbook: it goes on, once, and its end is recorded', async () => {
    await stack.create('worker-dies', 'crash', { ansible_limit: 'h0' });
    await stack.untilWritten(journal, 'start worker-dies');
    await stack.kill('worker');
    const session = await stack.untilComplete('worker-dies');
    expect(session.status.session).toMatchObject({ status: 'complete', succeeded: 'true' });
    expect(await count('start worker-dies')).toBe(1);
    expect(await count('end worker-dies')).toBe(1);
    expect(session.attempts).toHaveLength(1);
  }, 600_000);

  test('the whole stack in the middle of a playbook: the playbook ends, the next start records it', async () => {
    await stack.create('stack-dies', 'crash', { ansible_limit: 'h1' });
    await stack.untilWritten(journal, 'start stack-dies');
    await stack.killAll();
    await stack.untilWritten(journal, 'end stack-dies');
    await stack.start();
    const session = await stack.untilComplete('stack-dies');
    expect(session.status.session).toMatchObject({ status: 'complete', succeeded: 'true' });
    expect(await count('start stack-dies')).toBe(1);
    const component = await stack.call('GET', '/v3/components/h1?state_details=true');
    expect(component.body.state).toMatchObject([{ session_name: 'stack-dies', status: 'applied' }]);
  }, 600_000);

  test(`${KILLS} kills at random moments of ${SESSIONS} sessions: all end, each run starts once`, async () => {
    const names = Array.from({ length: SESSIONS }, (_, index) => `many-${index}`);
    const created = Promise.all(
      names.map((name, index) => stack.create(name, 'crash', { ansible_limit: `h${index}` })),
    );
    const parts: ComponentName[] = ['worker', 'api', 'temporal', 'postgres'];
    for (let kill = 0; kill < KILLS; kill += 1) {
      // The moment is what varies here: nothing is waited for.
      await delay(200 + Math.random() * 2_000);
      await stack.kill(parts[kill % parts.length] as ComponentName).catch(() => undefined);
    }
    await created;
    for (const name of names) {
      const session = await stack.untilComplete(name, 240_000);
      expect([name, session.status.session.succeeded, session.status.session.message]).toEqual([
        name,
        'true',
        '1 layer done on 1 host',
      ]);
      expect([name, await count(`start ${name}`)]).toEqual([name, 1]);
    }
    const { body } = await eventually('the stack is healthy', async () => {
      const answer = await stack.call('GET', '/healthz').catch(() => null);
      return answer?.status === 200 ? answer : null;
    });
    expect(body).toEqual({ db_status: 'ok', kafka_status: 'ok' });
  }, 600_000);
});
