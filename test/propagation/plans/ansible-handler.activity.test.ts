/** Actions that are playbooks, by the real Ansible over ssh: what they are given, what they end with, what is left of them. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { abortPlan } from '../../../control/propagation/command-plan.ts';
import { updateInputs } from '../../../control/propagation/update-inputs.ts';
import { runIdOfOwner } from '../../../domain/runs/owner.ts';
import { variablesText } from '../../../domain/runs/unsafe-values.ts';
import { ansibleMissing } from '../../support/ansible/ansible.ts';
import { launcherMissing, processesWith } from '../../support/ansible/local-runs.ts';
import { sshMissing } from '../../support/ansible/ssh-server.ts';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { openPlaybooks, type PlaybookBench, play } from './playbook-bench.ts';
import { isAtWork } from './shell-bench.ts';

const text = { schema: 'str', value: '' };

describeNeeding(ansibleMissing() ?? launcherMissing() ?? sshMissing(), 'a playbook as an action', () => {
  let bench: PlaybookBench;
  beforeEach(async () => {
    bench = await openPlaybooks();
  });
  afterEach(() => bench.close());

  const file = (name: string) => join(bench.dir, name);
  const written = (name: string) => readFile(file(name), 'utf8');
  /** Definition `web`, which writes its input `text` into the file `out`. */
  const writing = (input: object = { text }, what = '{{ text }}') =>
    bench.define(
      'web',
      { dir: text, ...input },
      {
        'actions/run.yaml': play(`- copy: {dest: "{{ dir }}/out", content: "${what}"}`),
        'actions/reload.yaml': play('- command: "true"'),
      },
    );

  test('runs on a node over ssh; it is created, changed, or ok when nothing was altered', async () => {
    await writing();
    await bench.node();
    await bench.web({ dir: bench.dir, text: 'one' });
    expect(await bench.execute()).toMatchObject({ status: 'success', outcome: 'created', message: null });
    expect(await written('out')).toBe('one');

    await updateInputs(bench.deps, 'web', { text: 'two' });
    expect(await bench.execute()).toMatchObject({ id: 'web.update', outcome: 'changed' });
    expect(await written('out')).toBe('two');

    await bench.staged({ names: ['web'], action: 'run' });
    expect(await bench.execute()).toMatchObject({ id: 'web.run', outcome: 'ok' });
    // Nothing is left of files, keys and sockets, but the record of the run.
    const left = await Promise.all((await readdir(bench.runs.runsDir)).map((run) => readdir(bench.runs.file(run, ''))));
    expect(left.flat()).not.toContain('action');
    expect(await readdir(join(bench.runs.runsDir, '..', 'cp')).catch(() => [])).toEqual([]);
    expect((await readdir(bench.dir)).filter((name) => name.startsWith('muster-cp'))).toEqual([]);
  });

  test('is given inputs as data: nothing in them is ever templated, wherever it stands', async () => {
    const bait = file('bait');
    const evil = `{{ lookup('pipe', 'touch ${bait}') }}{% if true %}x{% endif %}`;
    const deep = JSON.parse(`${'['.repeat(90)}${JSON.stringify(evil)}${']'.repeat(90)}`);
    await writing(
      { text, map: { schema: {}, value: {} }, list: { schema: [{}], value: [] } },
      '{{ [text, map, list, resource_args, muster_action] | to_json }}',
    );
    await bench.node();
    const inputs = { text: evil, map: { [evil]: evil, nested: { a: [evil] } }, list: [{ deep }] };
    await bench.web({ dir: bench.dir, ...inputs });
    expect(await bench.execute()).toMatchObject({ outcome: 'created' });
    expect(existsSync(bait)).toBe(false);
    const [got, map, list, all, facts] = JSON.parse(await written('out'));
    expect({ text: got, map, list }).toEqual(inputs);
    expect(all).toMatchObject(inputs);
    expect(facts).toMatchObject({ resource: 'web', action: 'run', node: 'web.run', occurrence: 0, attempt: 1 });
  });

  test('reads a file of variables as JSON or not at all', async () => {
    const playbook = play('- copy: {dest: "{{ dir }}/out", content: "{{ text }}"}');
    await writeFile(file('site.yaml'), playbook);
    // In YAML marks mean nothing, and Ansible turns to YAML where a mark cannot be read.
    const broken = { dir: bench.dir, text: { __ansible_unsafe: '{{ 1 + 1 }}' }, other: { __ansible_unsafe: {} } };
    const ended = async (text: string) => {
      await writeFile(file('variables.json'), text);
      const words = [
        '-c',
        'local',
        '-i',
        'localhost,',
        '-e',
        'ansible_python_interpreter=/usr/bin/python3',
        '--extra-vars',
        `@${file('variables.json')}`,
      ];
      const { status, stdout, stderr } = spawnSync(bench.deps.playbookCommand, [file('site.yaml'), ...words], {
        env: bench.deps.baseEnvironment,
        encoding: 'utf8',
      });
      return status === 0 ? 'well' : stdout + stderr;
    };
    expect(await ended(JSON.stringify(broken))).toBe('well');
    expect(await written('out')).toContain('2');
    await rm(file('out'));
    expect(await ended(variablesText(broken))).toContain('parsing failed');
    expect(existsSync(file('out'))).toBe(false);
    expect(await ended(variablesText({ ...broken, other: {} }))).toBe('well');
    expect(await written('out')).toBe('{{ 1 + 1 }}');
  });

  test('is refused when data pretends to be a mark of Ansible, and nothing runs', async () => {
    await writing({ text, map: { schema: {}, value: {} } });
    await bench.node();
    await bench.web({ dir: bench.dir, text: '{{ 1 + 1 }}', map: { __ansible_unsafe: 'x' } });
    await expect(bench.process()).rejects.toMatchObject({ code: 'unsafe_value' });
  });

  test('gets the value of a secret, which shows nowhere', async () => {
    const value = 'never-to-be-seen {{ 1 }}';
    await bench.secrets.put('propagation-web', 'password', value);
    await bench.define(
      'web',
      { dir: text, password: { schema: 'str', secret: true } },
      {
        'actions/run.yaml': play(`
- copy: {dest: "{{ dir }}/out", content: "{{ password }}"}
- debug: {var: password}
- shell: "cat /proc/[0-9]*/cmdline > {{ dir }}/processes 2>&1 || true"
- fail: {msg: "it is {{ password }}"}`),
      },
    );
    await bench.node();
    await bench.web({ dir: bench.dir, password: { secret: 'propagation-web', key: 'password' } });
    const node = await bench.execute();
    expect(node).toMatchObject({ outcome: 'failed', message: expect.stringContaining('********') });
    expect(await written('out')).toBe(value);
    const processes = await written('processes');
    expect(processes).toContain('variables.json');
    expect(processes).not.toContain('never-to-be-seen');
    expect(await bench.tablesWith('never-to-be-seen')).toEqual([]);
    expect(await bench.output()).toContain('********');
  });

  test('fails by its tasks, and is an error where its host is not to be reached', async () => {
    await bench.define('web', {}, { 'actions/run.yaml': play('- name: refuses\n  command: "false"') });
    await bench.node();
    await bench.web();
    expect(await bench.execute()).toMatchObject({
      status: 'error',
      outcome: 'failed',
      code: null,
      message: expect.stringContaining('refuses: '),
    });
    await bench.server.stop();
    await bench.abandonAll();
    expect(await bench.execute()).toMatchObject({ outcome: 'error', code: 'unreachable' });
  });

  test('sends nothing to a host with another key, whatever ansible.cfg says', async () => {
    await writing();
    const other = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ';
    await bench.node('n1', { host_key: other });
    await bench.web({ dir: bench.dir, text: 'x' });
    const loose =
      `${bench.shipped}\nssh_common_args = -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null\n`.replace(
        'ssh_args = ',
        'ssh_args = -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null ',
      );
    const site = { ...bench.deps.site, ansibleConfig: async () => loose };
    expect(await bench.execute({ site })).toMatchObject({ outcome: 'error', code: 'unreachable' });
    expect(existsSync(file('out'))).toBe(false);

    await updateInputs(bench.deps, 'n1-ssh', { host_key: '' });
    await bench.abandonAll();
    expect(await bench.execute({ site })).toMatchObject({
      ...{ outcome: 'error', code: 'validation_failed' },
      message: expect.stringContaining('no host_key'),
    });
  });

  test('runs on a component with the identity of sessions', async () => {
    await writing({ text }, '{{ inventory_hostname }} {{ group_names }}');
    const component = {
      id: 'x1',
      tags: { ansible_host: '127.0.0.1', ansible_port: String(bench.server.port), role: 'web' },
    };
    await bench.component(component.id, component.tags);
    await bench.web({ dir: bench.dir, location_id: 'component:x1' }, null);
    expect(await bench.execute()).toMatchObject({ outcome: 'created' });
    expect(await written('out')).toBe("x1 ['role_web']");
    // What keeps certificates from being made is told, and the installation's own key is enough for this host.
    expect(await bench.tablesWith('is not renewed: there is no authority')).toEqual(['events']);

    await updateInputs(bench.deps, 'web', { location_id: 'component:gone' });
    expect(await bench.execute()).toMatchObject({ outcome: 'error', code: 'component_not_found' });
  });

  test('logs in at a node with the key of its transport alone, and without such a key as a session does', async () => {
    await writing();
    await bench.node();
    await bench.web({ dir: bench.dir, text: 'x' });
    const noKey = async () => {
      throw new Error('the key of sessions is asked for');
    };
    expect(await bench.execute({ site: { ...bench.deps.site, ssh: noKey } })).toMatchObject({ outcome: 'created' });
    expect(await bench.tablesWith('is not renewed')).toEqual([]);

    await updateInputs(bench.deps, 'n1-ssh', { key: null });
    await updateInputs(bench.deps, 'web', { text: 'y' });
    expect(await bench.execute()).toMatchObject({ outcome: 'changed' });
    expect(await bench.tablesWith('is not renewed')).toEqual(['events']);
  });

  test('runs on the machine itself where that is allowed', async () => {
    await writing({ text }, '{{ ansible_connection }}');
    await bench.web({ dir: bench.dir, location_id: 'localhost' }, null);
    expect(await bench.execute({ allowsLocal: false })).toMatchObject({ code: 'not_supported' });
    await bench.abandonAll();
    expect(await bench.execute()).toMatchObject({ outcome: 'created' });
    expect(await written('out')).toBe('local');
  });

  test('finds modules and roles of its definition', async () => {
    const module = [
      '#!/usr/bin/python3',
      'from ansible.module_utils.basic import AnsibleModule',
      'AnsibleModule({}).exit_json(changed=True, msg="own module")',
    ].join('\n');
    await bench.define(
      'web',
      { dir: text },
      {
        'actions/run.yaml': play('- own_module:\n  register: said\n- import_role: {name: part}'),
        'ansible_library/own_module.py': module,
        'roles/part/tasks/main.yml': '- copy: {dest: "{{ dir }}/out", content: "own role, {{ said.msg }}"}',
      },
    );
    await bench.node();
    await bench.web({ dir: bench.dir });
    expect(await bench.execute()).toMatchObject({ outcome: 'created' });
    expect(await written('out')).toBe('own role, own module');
  });

  test('that no host has a task of is ok, and says so', async () => {
    await bench.define('web', {}, { 'actions/run.yaml': '- hosts: nobody\n  tasks: [{command: "true"}]' });
    await bench.node();
    await bench.web();
    expect(await bench.execute()).toMatchObject({ outcome: 'ok', message: 'No host ran any task' });
  });

  /** Starts the action, aborts its plan when the action is `ready`, and brings the plan to its end. */
  async function aborted(ready: () => Promise<boolean>) {
    const { id: plan } = await bench.process();
    await bench.start(plan);
    const [open] = (await bench.advance(plan)).attempts;
    const attempt = open?.attempt ?? '';
    const watcher = bench.bring(plan, attempt);
    await eventually('it runs', ready, 60_000);
    await abortPlan(bench.deps, plan);
    await bench.advance(plan, [attempt]);
    await watcher;
    await bench.finish(plan);
    const node = (await bench.nodes(plan)).find(({ resource }) => resource === 'web');
    return { node, runId: runIdOfOwner({ kind: 'attempt', id: attempt }, 1) };
  }

  test('is ended by an abort, on this machine', async () => {
    await bench.define('web', {}, { 'actions/run.yaml': play('- wait_for: {timeout: 600}') });
    await bench.node();
    await bench.web();
    const { node, runId } = await aborted(async () => (await bench.output()).includes('PLAY'));
    expect(node).toMatchObject({ outcome: 'error', code: 'cancelled' });
    expect(await bench.runs.runner.live()).not.toContain(runId);
  });

  test('is ended by an abort with all that it has begun here, whatever that traps and wherever it went', async () => {
    const deaf = `trap "" TERM INT HUP; echo $$ >> ${file('pids')}; while :; do sleep 1; done`;
    const task = `- shell: |
    setsid env -i bash -c '${deaf}' &
    ${deaf}
  args: {executable: /bin/bash}`;
    await bench.define('web', {}, { 'actions/run.yaml': play(task) });
    await bench.web({ location_id: 'localhost' }, null);
    const pids = async () => (await written('pids').catch(() => '')).trim().split('\n').filter(Boolean).map(Number);
    const { node, runId } = await aborted(async () => (await pids()).length === 2);
    expect(node).toMatchObject({ outcome: 'error', code: 'cancelled', message: 'Cancelled' });
    expect((await pids()).filter(isAtWork)).toEqual([]);
    expect(await processesWith(runId)).toEqual([]);
    expect(await bench.db.selectFrom('propagation_leases').selectAll().execute()).toEqual([]);
  });
});
