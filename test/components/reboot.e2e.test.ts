/** Nodes from the hardware manager to configured, with real agents, one of which boots while a session is at work on it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { type HardwareManager, node, startHardwareManager } from '../support/fakes/hardware-service.ts';
import { describeNeeding } from '../support/requirement.ts';
import { ROOT } from '../support/source-tree.ts';
import { cli } from '../support/stack/command-line.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

/** Says that it is at work, and waits for a file that tells it to go on: one for a session of two hosts, one for a session of one. */
const playbookIn = (dir: string) => `
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.raw: |
        echo at work >${dir}/{{ inventory_hostname }}-of-{{ ansible_play_hosts | length }}
        for turn in $(seq 600); do [ -e ${dir}/go-{{ ansible_play_hosts | length }} ] && exit 0; sleep 0.2; done
        exit 1
`;

describeNeeding(stackMissing(), 'nodes of the hardware manager', () => {
  let stack: MusterStack;
  let manager: HardwareManager;
  const agents: ChildProcess[] = [];
  beforeAll(async () => {
    manager = await startHardwareManager();
    manager.entries = [node('n1'), node('n2', 'VirtualNode'), node('b1', 'NodeBMC')];
    stack = await startMusterStack({ MUSTER_HARDWARE_SYNC_URL: manager.url });
    const options = { hardware_sync_interval: 1, batch_window: 1, batcher_check_interval: 5 };
    expect((await stack.call('PATCH', '/v3/options', options)).status).toBe(200);
  }, 600_000);
  afterAll(async () => {
    for (const agent of agents) agent.kill('SIGKILL');
    await stack?.remove();
    await manager?.close();
  });

  const component = async (id: string) => (await stack.call('GET', `/v3/components/${id}?state_details=true`)).body;
  const hardwareSync = async () => (await stack.call('GET', '/api/v1/status')).body.hardware_sync;
  /** The record of a pass that found so many, once it is there: it is written after the nodes. */
  const passOver = async (nodes: number) => {
    const sync = await hardwareSync();
    return sync?.ok && sync.nodes === nodes ? sync : null;
  };
  const go = (hosts: number) => writeFile(join(stack.dataDir, `go-${hosts}`), '');

  /** Runs the agent of a node that has booted, to its end. */
  async function boot(id: string, bootId: string) {
    const file = join(stack.dataDir, `${id}-boot_id`);
    await writeFile(file, `${bootId}\n`);
    const agent = spawn('python3', ['-m', 'muster_report'], {
      env: {
        PATH: process.env.PATH,
        PYTHONPATH: join(ROOT, 'agent'),
        PYTHONDONTWRITEBYTECODE: '1',
        NODE_IDENTITY: id,
        MUSTER_REPORT_URL: stack.url,
        MUSTER_REPORT_BOOT_ID_FILE: file,
      },
      stdio: 'ignore',
    });
    agents.push(agent);
    expect((await once(agent, 'exit'))[0]).toBe(0);
  }

  test('become components by themselves', async () => {
    await eventually('both are there', async () => (await component('n2')).id !== undefined, 240_000);
    const { components } = (await stack.call('GET', '/v3/components')).body;
    expect(components.map(({ id }: { id: string }) => id)).toEqual(['n1', 'n2']);
    expect(await component('n1')).toMatchObject({ enabled: true, desired_config: '', state: [], error_count: 0 });
    const pass = await eventually('the pass is recorded', () => passOver(2));
    expect(pass).toMatchObject({ ok: true, reason: null, nodes: 2, created: 2 });
    expect(await stack.sql('select distinct actor from components')).toEqual([{ actor: 'hardware-sync' }]);
  }, 600_000);

  test('end configured, also one that boots while a session is at work on it, which then records nothing that is gone', async () => {
    const { url, commit } = await stack.repository('plays');
    await commit({ 'site.yml': playbookIn(stack.dataDir) });
    const layers = [{ clone_url: url, playbook: 'site.yml', branch: 'main' }];
    expect((await stack.call('PUT', '/v3/configurations/base', { layers })).status).toBe(200);
    await boot('n1', 'first');
    await boot('n2', 'first');
    expect((await component('n1')).muster).toEqual({ boot: 'first' });
    const patch = { desired_config: 'base', tags: { ansible_connection: 'local' } };
    await stack.call('PATCH', '/v3/components', { patch, filters: { ids: 'n1,n2' } });
    await stack.untilWritten(join(stack.dataDir, 'n1-of-2'), 'at work', 240_000);

    await boot('n1', 'second');
    expect(await component('n1')).toMatchObject({ state: [], muster: { boot: 'second' } });
    await go(2);
    await eventually('the session has recorded', async () => (await component('n1')).state.length > 0, 240_000);
    const booted = await component('n1');
    expect(booted).toMatchObject({
      configuration_status: 'pending',
      error_count: 0,
      state: [{ status: 'incomplete' }],
    });
    const [{ session_name: first }] = booted.state;
    expect(await component('n2')).toMatchObject({
      configuration_status: 'configured',
      state: [{ status: 'applied', session_name: first }],
    });
    expect((await stack.untilComplete(first)).status.session.succeeded).toBe('true');
    const { body: events } = await stack.call('GET', `/api/v1/sessions/${first}/events?limit=1000`);
    expect(JSON.stringify(events)).toContain('recorded as incomplete, booted since the session began: n1');

    await stack.untilWritten(join(stack.dataDir, 'n1-of-1'), 'at work', 240_000);
    expect(await component('n1')).toMatchObject({ state: [{ status: 'incomplete', session_name: first }] });
    await go(1);
    const configured = await eventually(
      'n1 is configured',
      async () => {
        const now = await component('n1');
        return now.configuration_status === 'configured' ? now : null;
      },
      240_000,
    );
    expect(configured).toMatchObject({ error_count: 0, state: [{ status: 'applied' }], muster: { boot: 'second' } });
    const [{ session_name: second }] = configured.state;
    expect(second).not.toBe(first);
    expect((await component('n2')).state[0].session_name).toBe(first);

    // The same report again, as when its answer was lost.
    await boot('n1', 'second');
    expect(await component('n1')).toEqual(configured);
  }, 600_000);

  test('wait while the hardware manager is away, which the status says', async () => {
    manager.failure = 404;
    const trouble = await eventually('the status says it', async () => {
      const sync = await hardwareSync();
      return sync.ok ? null : sync;
    });
    expect(trouble.reason).toBe(
      `The hardware state manager did not answer ${manager.url}/State/Components/: status 404`,
    );
    const shown = await cli(['status'], { url: stack.url });
    expect(shown.out).toMatch(/hardware sync +not available +.*status 404/);
    expect(shown.exit).toBe(1);
    manager.entries.push(node('n3'));
    manager.failure = null;
    await eventually('the new one is there', async () => (await component('n3')).id !== undefined);
    const pass = await eventually('the pass is recorded', () => passOver(3));
    expect(pass).toMatchObject({ ok: true, reason: null, nodes: 3, created: 3 });
    expect(await component('n1')).toMatchObject({ configuration_status: 'configured', desired_config: 'base' });
  }, 600_000);
});
