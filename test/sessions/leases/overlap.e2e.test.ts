/** One session at a time on a component: waiting, cancel, kills, and the batcher beside sessions of users, all of it real. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sessionWorkflowId } from '../../../domain/sessions/workflow-id.ts';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../../support/stack/muster-stack.ts';

describeNeeding(stackMissing(), 'while sessions may not overlap', () => {
  let stack: MusterStack;
  let journal: string;
  let made = 0;
  let hosts: string[];

  beforeAll(async () => {
    stack = await startMusterStack({ MUSTER_LOCAL_RUNS: '4' }, 'own');
    journal = join(stack.dataDir, 'journal');
    const { url, commit } = await stack.repository('plays');
    // Fails where another playbook works on the host; works until the session's file is there.
    await commit({
      'alone.yml': `
- hosts: all
  gather_facts: false
  tasks:
    - name: work alone
      ansible.builtin.raw: |
        exec 9> ${stack.dataDir}/alone-{{ inventory_hostname }}
        flock -n 9 || exit 9
        echo "begin $SESSION_NAME {{ inventory_hostname }}" >> ${journal}
        while [ ! -e ${stack.dataDir}/go-$SESSION_NAME ]; do sleep 0.2; done
`,
    });
    const all = Array.from({ length: 30 }, (_, n) => `h${n}`);
    await stack.configure('alone', url, ['alone.yml'], all);
    await setOptions({ allow_overlap: false, batch_window: 1, batcher_check_interval: 5 });
  }, 600_000);
  afterAll(() => stack?.remove());
  beforeEach(() => {
    hosts = Array.from({ length: 4 }, () => `h${made++}`);
  });

  const setOptions = (options: object) => stack.call('PATCH', '/v3/options', options);
  /** In two steps: both members in one write are a reboot that the node tells, and undo what a session does meanwhile. */
  const pending = async (id: string) => {
    await stack.call('PATCH', `/v3/components/${id}`, { desired_config: 'alone', state: [] });
    await stack.call('PATCH', `/v3/components/${id}`, { enabled: true });
  };
  const run = (name: string, limit: string) => stack.create(name, 'alone', { ansible_limit: limit });
  const began = (name: string, host: string) => stack.untilWritten(journal, `begin ${name} ${host}\n`);
  const letGo = (...names: string[]) =>
    Promise.all(names.map((name) => writeFile(join(stack.dataDir, `go-${name}`), '')));
  const inPhase = (name: string, phase: string) =>
    eventually(
      `${name} is in phase ${phase}`,
      async () => {
        const session = await stack.session(name);
        return session.phase === phase && session;
      },
      240_000,
    );
  const succeeded = async (name: string) => {
    const { status, reason } = await stack.untilComplete(name, 240_000);
    return [status.session.succeeded, reason?.code ?? null];
  };
  const leases = () => stack.sql('select component_id from component_leases');

  test('sessions of users wait for each other, by name and by pattern, also across kills', async () => {
    const [a, b, c] = hosts as [string, string, string];
    await run('one', `${a},${b}`);
    await began('one', a);
    await run('two', `${b},${c}`);
    expect((await inPhase('two', 'lease')).status.session).toMatchObject({
      status: 'running',
      message: expect.stringContaining('one (1)'),
    });
    await run('three', `~(${a}|${c})$`);
    const waiting = await inPhase('three', 'lease');
    // The second one waits longer for a host that nobody has.
    expect(waiting.status.session.message).toContain('one (1)');
    expect(waiting.status.session.message).toContain('two (1)');
    expect(waiting.reason.code).toBe('components_busy');
    await stack.kill('worker');
    await letGo('one', 'three');
    expect(await succeeded('one')).toEqual(['true', null]);
    await began('two', c);
    await eventually('the third one waits for the second alone', async () => {
      const { message } = (await stack.session('three')).status.session;
      return !message.includes('one (1)') && message.includes('two (1)');
    });
    await stack.killAll();
    await stack.start();
    await letGo('two');
    for (const name of ['two', 'three']) expect([name, ...(await succeeded(name))]).toEqual([name, 'true', null]);
    expect(await leases()).toEqual([]);
  }, 600_000);

  test('one that waits can be cancelled, and when overlapping is allowed again the others go on', async () => {
    const [a] = hosts as [string];
    await run('holder', a);
    await began('holder', a);
    await Promise.all([run('cancelled', a), run('allowed', a)]);
    await inPhase('cancelled', 'lease');
    await inPhase('allowed', 'lease');
    expect((await stack.call('POST', '/api/v1/sessions/cancelled/cancel')).status).toBe(202);
    expect(await succeeded('cancelled')).toEqual(['false', 'cancelled']);
    await setOptions({ allow_overlap: true });
    // It runs beside the other now, and finds that out.
    expect(await succeeded('allowed')).toEqual(['false', 'layer_failed']);
    await setOptions({ allow_overlap: false });
    await letGo('holder');
    expect(await succeeded('holder')).toEqual(['true', null]);
  }, 600_000);

  test('one whose workflow was terminated keeps others off until its playbook has ended', async () => {
    const [a] = hosts as [string];
    await run('terminated', a);
    await began('terminated', a);
    const { id } = await stack.session('terminated');
    await stack.sql(`update sessions set created_at = created_at - interval '1 minute' where id = $1`, [id]);
    await run('patient', a);
    await inPhase('patient', 'lease');
    await letGo('patient');
    await stack.temporal((client) =>
      client.workflow.getHandle(sessionWorkflowId({ id, name: 'terminated' })).terminate('by hand'),
    );
    const sweep = () => stack.temporal((client) => client.schedule.getHandle('muster-sweep').trigger());
    await eventually(
      'the patient one goes on',
      async () => {
        await sweep().catch(() => undefined);
        return (await stack.session('patient')).status.session.status === 'complete';
      },
      240_000,
    );
    expect(await succeeded('terminated')).toEqual(['unknown', 'workflow_ended']);
    expect(await stack.processes(id)).toEqual([]);
    // It would have failed beside the other.
    expect(await succeeded('patient')).toEqual(['true', null]);
    expect(await leases()).toEqual([]);
  }, 600_000);

  test('the batcher and a user wait for each other', async () => {
    const [a, b] = hosts as [string, string];
    await pending(a);
    const sent = await batcherSession(a);
    await began(sent, a);
    await run('behind-batcher', `${a},${b}`);
    expect((await inPhase('behind-batcher', 'lease')).status.session.message).toContain(`${sent} (1)`);
    await pending(b);
    const { batcher } = await eventually('it is known that another session has it', async () => {
      const { body } = await stack.call('GET', '/api/v1/batches');
      return body.batcher.leased_components === 1 && body;
    });
    expect(batcher).toMatchObject({ open: 0, sent: 1 });
    await letGo(sent);
    await began('behind-batcher', b);
    await letGo('behind-batcher');
    expect(await succeeded('behind-batcher')).toEqual(['true', null]);
    // The user's session has configured it, so the batcher has nothing left to do.
    await eventually('no batch is left', async () => {
      const { body } = await stack.call('GET', '/api/v1/batches');
      return body.batches.length === 0;
    });
    expect((await stack.call('GET', `/v3/components/${b}`)).body.configuration_status).toBe('configured');
  }, 600_000);

  test('with one slot, a session that was sent first gives way to one that has the slot; nobody waits for ever', async () => {
    const [a, b] = hosts as [string, string];
    await setOptions({ max_running_sessions: 1 });
    await run('has-slot', a);
    await began('has-slot', a);
    await run('next-in-line', b);
    await pending(b);
    const sent = await batcherSession(b);
    expect((await stack.session(sent)).status.session.status).toBe('pending');
    await letGo('has-slot');
    await began('next-in-line', b);
    await letGo('next-in-line', sent);
    for (const name of ['has-slot', 'next-in-line', sent]) {
      expect([name, ...(await succeeded(name))]).toEqual([name, 'true', null]);
    }
    expect(await leases()).toEqual([]);
  }, 600_000);

  /** Name of the batcher's session for a component. */
  const batcherSession = (host: string): Promise<string> =>
    eventually(
      `a session of the batcher for ${host}`,
      async () => {
        const { body } = await stack.call('GET', '/v3/sessions?name_contains=batcher');
        const found = body.sessions.find((session: { ansible: { limit: string } }) =>
          session.ansible.limit.split(',').includes(host),
        );
        return found?.name;
      },
      240_000,
    );
});
