/**
 * A night of an administrator by the command line alone: twelve machines behind ssh, of which one is away and one fails. A configuration is
 * applied, the failure is found and mended, the fleet is configured; then its records are exported, changed and applied, and everything is
 * stopped.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { type SshServer, sshMissing, startSshServer } from '../support/ansible/ssh-server.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { describeNeeding } from '../support/requirement.ts';
import { cli } from '../support/stack/command-line.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

const HOSTS = Array.from({ length: 12 }, (_, index) => `n${index + 1}`);
const FAILING = 'n7';
const AWAY = 'n12';
const TASK = 'scratch space is mounted';

describeNeeding(stackMissing() ?? sshMissing(), 'an administrator with the command line', () => {
  let stack: MusterStack;
  let machines: SshServer;
  /** A machine whose name is in this folder has no scratch space. */
  let unmounted: string;
  let site: string;

  beforeAll(async () => {
    stack = await startMusterStack();
    machines = await startSshServer(join(stack.dataDir, 'machines'));
    unmounted = join(stack.dataDir, 'unmounted');
    await mkdir(unmounted);
    await writeFile(join(unmounted, FAILING), '');
    const repository = await stack.repository('plays');
    await repository.commit({
      'site.yml': stringify([
        {
          hosts: 'all',
          gather_facts: false,
          tasks: [
            {
              name: TASK,
              'ansible.builtin.command': `test ! -e ${unmounted}/{{ inventory_hostname }}`,
              changed_when: false,
            },
          ],
        },
      ]),
      'other.yml': stringify([{ hosts: 'all', gather_facts: false, tasks: [] }]),
      'group_vars/all.yml': stringify({ ansible_python_interpreter: '{{ ansible_playbook_python }}' }),
    });
    site = join(stack.dataDir, 'site.yaml');
    const layers = [{ name: 'base', clone_url: repository.url, playbook: 'site.yml', branch: 'main' }];
    await writeFile(site, stringify({ name: 'site', layers }));
  }, 600_000);
  afterAll(async () => {
    await machines?.stop();
    await stack?.remove();
  });

  const run = (...args: string[]) => cli(args, { url: stack.url });
  const done = async (...args: string[]) => {
    const { exit, out, err } = await run(...args);
    if (exit !== 0) throw new Error(`${args.join(' ')}: ${exit}\n${out}${err}`);
    return out + err;
  };

  test('twelve machines want a configuration that is not there yet', async () => {
    await done('secret', 'set', 'muster-ssh', `private=@${machines.keyFile}`);
    await done('option', 'set', 'batch_window=1', 'batcher_check_interval=5', 'default_batcher_retry_policy=1');
    const away = await freePort();
    const components = HOSTS.map((id) => ({
      id,
      desired_config: 'site',
      tags: {
        ansible_host: '127.0.0.1',
        ansible_port: String(id === AWAY ? away : machines.port),
        ansible_user: userInfo().username,
      },
    }));
    const file = join(stack.dataDir, 'components.yaml');
    await writeFile(file, components.map((component) => stringify(component)).join('---\n'));
    await done('component', 'apply', '-f', file);
    expect(await done('component', 'list', '-o', 'name')).toBe(`${HOSTS.join('\n')}\n`);
  });

  test('the configuration is applied with its impact shown, and the batch goes', async () => {
    expect(await done('configuration', 'apply', '-f', site, '--dry-run')).toMatch(/12 .*pending|pending .*12/);
    await done('configuration', 'apply', '-f', site, '--reason', 'scratch space for all');
    expect(await done('component', 'explain', 'n1')).toContain('./muster component enable n1');
    await done('component', 'enable', 'n[1-12]', '--yes', '--reason', 'scratch space for all');
    await eventually(
      'the batch is there',
      async () => /n1/.test(await done('batch', 'list', '--all', '-o', 'json')),
      240_000,
    );
    const waited = await run('component', 'wait', 'n[1-12]', '--for', 'configured', '--timeout', '600');
    expect(waited.exit).toBe(1);
    expect(waited.out + waited.err).toMatch(/n7|n12/);
    await eventually('both have failed', async () => (await failed()).length === 2, 240_000);
  }, 1_200_000);

  const failed = async () => (await done('component', 'list', '--status', 'failed', '-o', 'name')).trim().split('\n');

  test('the task that failed is found in three commands', async () => {
    expect(await failed()).toEqual([FAILING, AWAY]);
    const explained = await done('component', 'explain', FAILING);
    const name = /session get (\S+)/.exec(explained)?.[1] ?? (await lastSession());
    const shown = await done('session', 'get', name);
    expect(shown).toContain(TASK);
    expect(shown).toContain(FAILING);
    expect(shown).toMatch(/n12.*unreachable|unreachable.*n12/is);
  });

  const lastSession = async () => {
    const sessions = JSON.parse(await done('session', 'list', '-o', 'json')) as { name: string }[];
    return sessions[0]?.name ?? '';
  };

  test('what is mended is run again, and the fleet is configured', async () => {
    await rm(join(unmounted, FAILING));
    const retried = await run('session', 'retry', await lastSession(), '--hosts', 'failed', '--wait');
    // One of the two is still away.
    expect([retried.exit, await failed()]).toEqual([1, [AWAY]]);
    await done('component', 'set', AWAY, '--tag', `ansible_port=${machines.port}`);
    await done('component', 'reset-errors', AWAY);
    await done('component', 'wait', 'n[1-12]', '--for', 'configured', '--timeout', '600');
    expect(await done('fleet')).toMatch(/configured\s+12/);
  }, 1_200_000);

  test('the records are exported, changed, compared and applied', async () => {
    const dir = join(stack.dataDir, 'exported');
    await done('export', dir);
    expect((await run('diff', '-f', dir)).exit).toBe(0);
    const file = join(dir, 'configurations', 'site.yaml');
    const record = parse(await readFile(file, 'utf8'));
    record.layers.push({ ...record.layers[0], name: 'other', playbook: 'other.yml' });
    await writeFile(file, stringify(record));
    const diff = await run('diff', '-f', dir);
    expect([diff.exit, diff.out]).toEqual([1, expect.stringContaining('layers[1]: nothing -> ')]);
    await done('apply', '-f', dir, '--reason', 'a further layer');
    await done('component', 'wait', 'n[1-12]', '--for', 'configured', '--timeout', '600');
    expect((await run('diff', '-f', dir)).exit).toBe(0);
  }, 1_200_000);

  test('everything is stopped, and goes on', async () => {
    expect(await done('stop', '--all', '--reason', 'the cooling fails', '--yes')).toContain(
      'everything is stopped: 1 batcher',
    );
    expect(await done('status')).toContain('is stopped since');
    await done('go', '--reason', 'mended');
    expect(await done('status')).not.toContain('is stopped since');
  });
});
