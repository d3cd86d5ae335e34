/**
 * A fleet that is kept right by itself: real ssh hosts of which some are away and one always fails, a branch that moves on, a node
 * that boots in the middle, and a stack that is killed twice.
 */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type SshServer, sshMissing, startSshServer } from '../support/ansible/ssh-server.ts';
import { eventually } from '../support/eventually.ts';
import type { TestRepository } from '../support/git/git-repository.ts';
import { describeNeeding } from '../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

const run = promisify(execFile);
const AGENT = join(import.meta.dirname, '../../agent');
const NODES = Array.from({ length: 12 }, (_, n) => `node${String(n + 1).padStart(2, '0')}`);
const BOOTS = 'node05';
const FAILS = 'node10';
const AWAY = ['node11', 'node12'];
const GOOD = NODES.filter((node) => node !== FAILS && !AWAY.includes(node));
const POLICY = 2;

/** Notes each run on a node in `dir`; two at once on one node would be noted as an overlap. */
const playbook = (dir: string, version: string) => `
- hosts: all
  gather_facts: false
  tasks:
    - name: begin
      ansible.builtin.raw: |
        mkdir '${dir}/busy/{{ inventory_hostname }}' || { echo '{{ inventory_hostname }}' >> '${dir}/overlaps'; exit 1; }
        echo ${version} >> '${dir}/runs/{{ inventory_hostname }}'
        sleep 3
    - name: end
      ansible.builtin.raw: rmdir '${dir}/busy/{{ inventory_hostname }}'
    - name: one never works
      ansible.builtin.fail:
        msg: never works
      when: inventory_hostname == '${FAILS}'
`;

describeNeeding(stackMissing() ?? sshMissing(), 'a fleet of 12 ssh hosts', () => {
  let stack: MusterStack;
  let dir: string;
  let repository: TestRepository;
  const servers: SshServer[] = [];

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-fleet-'));
    for (const folder of ['busy', 'runs']) await mkdir(join(dir, folder));
    await writeFile(join(dir, 'overlaps'), '');
    for (const node of NODES) {
      servers.push(await startSshServer(join(dir, node)));
      if (node !== 'node01') {
        await copyFile(join(dir, 'node01/client_key.pub'), join(dir, node, 'authorized_keys'));
      }
    }
    for (const node of AWAY) await servers[NODES.indexOf(node)]?.stop();
    stack = await startMusterStack({}, 'own');
    const key = await readFile(servers[0]?.keyFile ?? '', 'utf8');
    await stack.call('PUT', '/api/v1/secrets/muster-ssh/private', { value: key });
    const knownHosts = servers.map((server) => server.knownHosts).join('');
    await stack.call('PUT', '/api/v1/secrets/muster-ssh/known_hosts', { value: knownHosts });
    await stack.call('PATCH', '/v3/options', {
      batch_size: 4,
      batch_window: 2,
      batcher_check_interval: 2,
      default_batcher_retry_policy: POLICY,
    });
    repository = await stack.repository('fleet');
    await repository.commit({ 'site.yml': playbook(dir, 'v1') });
    await stack.configure('fleet', repository.url, ['site.yml'], []);
  }, 600_000);
  afterAll(async () => {
    await stack?.remove();
    await Promise.all(servers.map((server) => server.stop()));
    await rm(dir, { recursive: true, force: true });
  }, 600_000);

  /** The versions that a node ran, in order. */
  const ranOn = async (node: string) =>
    (await readFile(join(dir, 'runs', node), 'utf8').catch(() => '')).trim().split('\n');
  /** Waits until a playbook of that version works on some node, or on the one that is named. */
  const working = (version: string, node?: string) =>
    eventually(
      `${version} works on ${node ?? 'a node'}`,
      async () => {
        for (const busy of await readdir(join(dir, 'busy'))) {
          if ((node ?? busy) === busy && (await ranOn(busy)).at(-1) === version) return busy;
        }
        return null;
      },
      240_000,
    );
  const restart = async () => {
    await stack.killAll();
    await stack.start();
  };
  /** What the node's own reporter does after a boot. */
  const boot = async (node: string) => {
    const file = join(dir, 'boot-id');
    await writeFile(file, '6a1f7a52-7d5c-4c1c-9d0e-000000000002\n');
    await run('python3', ['-m', 'muster_report'], {
      env: {
        PATH: process.env.PATH,
        PYTHONPATH: AGENT,
        PYTHONDONTWRITEBYTECODE: '1',
        NODE_IDENTITY: node,
        MUSTER_REPORT_URL: stack.url,
        MUSTER_REPORT_BOOT_ID_FILE: file,
      },
    });
  };
  const component = async (node: string) => (await stack.call('GET', `/v3/components/${node}?state_details=true`)).body;

  /** Batches and sessions under way, and components that wait. */
  const leftToDo = async () => {
    const open = await stack.sql(`select key, state, refusal, session_name from batches where state <> 'ended'`);
    const live = await stack.sql(`select name, stage, phase, message, reason from sessions where stage <> 'ended'`);
    const { body } = await stack.call('GET', '/v3/components?status=pending');
    return [...open, ...live, ...body.components.map(({ id }: { id: string }) => id)];
  };

  test('is brought to its configuration, whatever dies', async () => {
    const components = NODES.map((id, n) => ({
      id,
      enabled: true,
      desired_config: 'fleet',
      tags: { ansible_host: '127.0.0.1', ansible_port: String(servers[n]?.port), ansible_user: servers[n]?.user ?? '' },
    }));
    expect((await stack.call('PUT', '/v3/components', components)).status).toBe(200);

    await working('v1', BOOTS);
    await boot(BOOTS);
    await restart();

    await eventually(
      'some nodes have the first version',
      async () => (await stack.call('GET', '/v3/components?status=configured')).body.components.length >= 3,
      240_000,
    );
    const commit = await repository.commit({ 'site.yml': playbook(dir, 'v2') });
    const moved = await stack.call('PATCH', '/v3/configurations/fleet');
    expect([moved.status, moved.body.layers[0].commit]).toEqual([200, commit]);
    await working('v2');
    await restart();

    await eventually('nothing is left to do', async () => (await leftToDo()).length === 0, 240_000).catch(
      async (error) => {
        throw new Error(`${error.message}: ${JSON.stringify(await leftToDo())}`);
      },
    );

    for (const node of GOOD) {
      const { configuration_status: status, error_count: errors, state } = await component(node);
      expect([node, status, errors]).toEqual([node, 'configured', 0]);
      expect(state).toEqual([expect.objectContaining({ commit, status: 'applied' })]);
      expect((await ranOn(node)).at(-1)).toBe('v2');
    }
    for (const node of [FAILS, ...AWAY]) {
      const { configuration_status: status, error_count: errors, state } = await component(node);
      expect([node, status, errors]).toEqual([node, 'failed', POLICY]);
      expect(state.at(-1).status).toBe('failed');
      const [row] = await stack.sql<{ failures: number }>(
        `select count(*)::int as failures from host_results where host = $1 and status = 'failed'`,
        [node],
      );
      expect([node, row?.failures]).toEqual([node, POLICY]);
    }
    // What ran when the node booted counts for nothing: it was run again, with the version that was wanted then.
    expect((await ranOn(BOOTS)).length).toBeGreaterThan(1);
    expect((await component(BOOTS)).muster.boot).toContain('6a1f7a52');
    expect(await readFile(join(dir, 'overlaps'), 'utf8')).toBe('');
    const sessions = await stack.sql<{ name: string; succeeded: string; reason: string | null }>(
      'select name, succeeded, reason from sessions',
    );
    expect(sessions.filter(({ succeeded }) => !['true', 'false'].includes(succeeded))).toEqual([]);
    expect(sessions.every(({ name }) => /^batcher-[0-9a-f-]{36}$/.test(name))).toBe(true);
  }, 600_000);
});
