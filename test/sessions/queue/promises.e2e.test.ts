import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sessionWorkflowId } from '../../../domain/sessions/workflow-id.ts';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { filesOfRun, type MusterStack, stackMissing, startMusterStack } from '../../support/stack/muster-stack.ts';

describeNeeding(stackMissing(), 'what is promised', () => {
  let stack: MusterStack;
  let journal: string;

  beforeAll(async () => {
    stack = await startMusterStack({ MUSTER_LOCAL_RUNS: '4' }, 'own');
    journal = join(stack.dataDir, 'journal');
    const repository = await stack.repository('promises');
    const play = (tasks: string) => `- hosts: all\n  gather_facts: false\n  tasks:\n${tasks}`;
    const note = (word: string) => `    - ansible.builtin.raw: echo "${word} $SESSION_NAME" >> ${journal}\n`;
    await repository.commit({
      'quick.yml': play(note('start')),
      'long.yml': play(`${note('start')}    - ansible.builtin.command: sleep 300\n`),
      'stubborn.yml': play(
        `${note('start')}    - ansible.builtin.shell: |
        trap '' TERM INT HUP
        setsid sh -c "trap '' TERM; sleep 300" &
        sleep 300
        sleep 300
`,
      ),
      'detached.yml': play(
        `    - ansible.builtin.shell: sleep 300
      async: 600
      poll: 0
${note('start')}    - ansible.builtin.command: sleep 300
`,
      ),
      'fails.yml': play(
        `${note('start')}    - ansible.builtin.fail:
        msg: as planned
      when: inventory_hostname == 'h1'
`,
      ),
    });
    for (const playbook of ['quick', 'long', 'stubborn', 'detached', 'fails']) {
      await stack.configure(playbook, repository.url, [`${playbook}.yml`], ['h1', 'h2', 'h3']);
    }
  }, 600_000);
  afterAll(async () => stack?.remove());

  const lines = async (text: string) =>
    (await readFile(journal, 'utf8').catch(() => '')).split('\n').filter((line) => line === text).length;

  const sweep = () => stack.temporal((client) => client.schedule.getHandle('muster-sweep').trigger());

  /** Sweeps until the session is complete: one that was just made is left alone for a while. */
  const sweptComplete = (name: string) =>
    eventually(
      `the sweep ends ${name}`,
      async () => {
        await sweep().catch(() => undefined);
        const session = await stack.session(name);
        return session.status.session.status === 'complete' ? session : null;
      },
      240_000,
    );

  test.each(['long', 'stubborn', 'detached'])(
    'cancel of %s leaves no process and says why',
    async (configuration) => {
      const name = await stack.create(`cancel-${configuration}`, configuration, { ansible_limit: 'h1' });
      await stack.untilWritten(journal, `start ${name}`);
      const { id } = await stack.session(name);
      expect((await stack.processes(id)).length).toBeGreaterThan(0);
      const answer = await stack.call('POST', `/api/v1/sessions/${name}/cancel`, { reason: 'not tonight' });
      expect(answer.status).toBe(202);
      await eventually('no process is left', async () => (await stack.processes(id)).length === 0);
      const session = await stack.untilComplete(name);
      expect(session.status.session).toMatchObject({ status: 'complete', succeeded: 'false' });
      expect(session.status.session.message).toContain('not tonight');
      expect(session.reason.code).toBe('cancelled');
    },
    120_000,
  );

  test('Terminate in the middle of a run: the record ends as unknown and the processes go', async () => {
    const name = await stack.create('terminated', 'long', { ansible_limit: 'h1' });
    await stack.untilWritten(journal, `start ${name}`);
    const { id } = await stack.session(name);
    await stack.temporal((client) => client.workflow.getHandle(sessionWorkflowId({ id, name })).terminate('by hand'));
    const session = await sweptComplete(name);
    expect(session.status.session).toMatchObject({ status: 'complete', succeeded: 'unknown' });
    expect(session.status.session.message).toContain('terminated');
    await eventually('no process is left', async () => (await stack.processes(id)).length === 0, 240_000);
  }, 600_000);

  test('cancel in the Temporal web UI is a cancel', async () => {
    const name = await stack.create('ui-cancel', 'long', { ansible_limit: 'h1' });
    await stack.untilWritten(journal, `start ${name}`);
    const { id } = await stack.session(name);
    await stack.temporal((client) => client.workflow.getHandle(sessionWorkflowId({ id, name })).cancel());
    const session = await stack.untilComplete(name);
    expect(session.status.session).toMatchObject({ status: 'complete', succeeded: 'false' });
    expect(await stack.processes(id)).toEqual([]);
  }, 600_000);

  test('a name that is deleted and made again 20 times runs once each time', async () => {
    for (let round = 1; round <= 20; round += 1) {
      await stack.create('again', 'quick', { ansible_limit: 'h2' });
      // Every other one is deleted while it is on its way.
      if (round % 2 === 0) await stack.untilComplete('again');
      expect((await stack.call('DELETE', '/v3/sessions/again')).status).toBe(204);
    }
    await stack.create('again', 'quick', { ansible_limit: 'h2' });
    const session = await stack.untilComplete('again', 240_000);
    expect(session.status.session.succeeded).toBe('true');
    await eventually('all deleted ones have ended', async () => {
      const [row] = await stack.sql<{ open: string }>(
        `select count(*) as open from sessions where name = 'again' and stage <> 'ended'`,
      );
      return row?.open === '0';
    });
    const runs = await stack.sql<{ id: string; runs: string }>(
      `select s.id, count(r.id) as runs from sessions s left join runs r on r.session_id = s.id
        where s.name = 'again' group by s.id`,
    );
    expect(runs).toHaveLength(21);
    for (const row of runs) expect(Number(row.runs)).toBeLessThanOrEqual(1);
    expect(await lines('start again')).toBeGreaterThanOrEqual(11);
    expect(await lines('start again')).toBeLessThanOrEqual(21);
  }, 600_000);

  test('deleting a session removes its run directory, events and logs', async () => {
    const name = await stack.create('traces', 'quick', { ansible_limit: 'h3' });
    const { id } = await stack.untilComplete(name);
    const { dir } = filesOfRun(stack, `${id}-1-0`);
    expect(existsSync(dir)).toBe(true);
    expect((await stack.call('DELETE', `/v3/sessions/${name}`)).status).toBe(204);
    await eventually(
      'its traces are gone',
      async () => {
        await sweep().catch(() => undefined);
        const [row] = await stack.sql<{ count: string }>(
          'select (select count(*) from events where stream_id = $1) + (select count(*) from output where stream_id = $1) as count',
          [id],
        );
        return !existsSync(dir) && row?.count === '0';
      },
      240_000,
    );
  }, 600_000);

  test('a retry runs again from the failed layer on the failed host, linked both ways', async () => {
    const name = await stack.create('to-retry', 'fails', {});
    const failed = await stack.untilComplete(name);
    expect(failed.status.session.succeeded).toBe('false');
    const answer = await stack.call('POST', `/api/v1/sessions/${name}/retry`, { hosts: 'failed' });
    expect([201, 202]).toContain(answer.status);
    const retried = answer.body.name;
    expect(retried).toMatch(/^retry-[0-9a-f]{8}-to-retry$/);
    const session = await stack.untilComplete(retried);
    expect(session.ansible.limit).toBe('h1');
    expect(session.tags['muster.retry-of']).toBe(name);
    expect(await lines(`start ${retried}`)).toBe(1);
    const component = await stack.call('GET', '/v3/components/h1?state_details=true');
    expect(component.body.error_count).toBeGreaterThanOrEqual(2);
    expect(component.body.state.at(-1)).toMatchObject({ session_name: retried, status: 'failed' });
  }, 600_000);

  test('an empty Temporal store: what never ran starts, what ran ends as unknown', async () => {
    await stack.call('PATCH', '/v3/options', { max_running_sessions: 1 });
    const ran = await stack.create('had-run', 'long', { ansible_limit: 'h1' });
    await stack.untilWritten(journal, `start ${ran}`);
    const waiting = await stack.create('never-ran', 'quick', { ansible_limit: 'h2' });
    await stack.killAll();
    for (const file of ['temporal.db', 'temporal.db-wal', 'temporal.db-shm']) {
      await rm(join(stack.dataDir, file), { force: true });
    }
    await stack.start();
    const lost = await sweptComplete(ran);
    expect(lost.status.session).toMatchObject({ status: 'complete', succeeded: 'unknown' });
    const late = await sweptComplete(waiting);
    expect(late.status.session).toMatchObject({ status: 'complete', succeeded: 'true' });
    expect(await lines(`start ${waiting}`)).toBe(1);
    await eventually('the old run is ended', async () => (await stack.processes(lost.id)).length === 0, 240_000);
    await stack.call('PATCH', '/v3/options', { max_running_sessions: 50 });
  }, 600_000);
});
