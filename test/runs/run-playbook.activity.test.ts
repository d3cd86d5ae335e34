/** Layers run by the real ansible-playbook, on hosts with a local connection, with results on a real database. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RESULTS_LOST } from '../../domain/runs/exit-status.ts';
import { findAnsible } from '../support/ansible/ansible.ts';
import { processesWith } from '../support/ansible/local-runs.ts';
import { eventually } from '../support/eventually.ts';
import { describeNeeding } from '../support/requirement.ts';
import { COMMIT, HOSTS, openMachine, perform, type SessionMachine } from '../support/stack/session-machine.ts';
import { sessionNow } from '../support/temporal/engine-sessions.ts';

const missing = findAnsible() === null ? 'no ansible-playbook: run through "npm test"' : null;

describeNeeding(missing, 'a layer of Ansible', () => {
  let machine: SessionMachine;
  beforeAll(async () => {
    machine = await openMachine();
  });
  afterAll(() => machine.close());

  const run = (sessionId: string, given = {}) =>
    perform(() => machine.worker().runLayer({ ...machine.ref(sessionId), ...given }));
  const record = (sessionId: string, attempt = 1) => machine.records.recordLayer({ sessionId, layer: 0, attempt });
  const playbook = (tasks: string, play = '') => `- hosts: all\n  gather_facts: false\n${play}  tasks:\n${tasks}`;
  const components = async (...ids: string[]) => {
    for (const id of ids) {
      await machine.database.db
        .insertInto('components')
        .values({
          id,
          desired_config: '',
          error_count: 1,
          retry_policy: null,
          enabled: true,
          tags: '{}',
          state: '[]',
          updated_at: new Date(0),
          actor: null,
        })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ error_count: 1, state: '[]' }))
        .execute();
    }
  };
  const stateOf = async (id: string) => {
    const { error_count, state } = await machine.database.db
      .selectFrom('components')
      .select(['error_count', 'state'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    return { error_count, state: state.map(({ status, commit, session_name }) => ({ status, commit, session_name })) };
  };

  test('stores events, output and results, masks secrets, and reports to the components', async () => {
    await components('h1', 'h2');
    const word = 'correct-horse-battery';
    const secrets = { ...machine.deps.site, masks: async () => [word], vaultPassword: async () => 'vault-word' };
    const id = await machine.session({
      'site.yml': playbook(`    - name: Say it
      ansible.builtin.debug:
        msg: "ä ${word} on {{ inventory_hostname }}"
    - name: Hide it
      ansible.builtin.command: echo {{ ['hidden', 'value'] | join('-') }}
      no_log: true
    - name: Fail there
      ansible.builtin.fail:
        msg: as asked
      when: inventory_hostname == 'h2'
    - name: Who runs
      ansible.builtin.command: printenv SESSION_NAME LAYER_CURRENT SESSION_COMMIT ANSIBLE_VAULT_PASSWORD_FILE
      when: inventory_hostname == 'h1'
`),
    });
    const paths = machine.deps.workspaces.paths(id);
    const worker = machine.worker({ site: secrets });
    const outcome = await perform(() => worker.runLayer(machine.ref(id)));
    expect(outcome).toMatchObject({ index: 0, playbook: 'site.yml', exitCode: 2, hosts: 3, failedHosts: 1 });
    expect(outcome.why).toMatch(/^Fail there: as asked \(site\.yml:\d+\)$/);

    const events = await machine.events(id);
    expect([...new Set(events.map(({ type }) => type))]).toEqual(
      expect.arrayContaining(['play_start', 'task_start', 'host_result', 'stats']),
    );
    const results = events.filter(({ type }) => type === 'host_result');
    const of = (task: string, host: string) =>
      results.find((event) => event.host === host && event.data.task === task)?.data;
    expect(of('Say it', 'h1')).toMatchObject({ result: 'ok', message: 'ä ******** on h1' });
    expect(of('Fail there', 'h2')).toMatchObject({ result: 'failed', message: 'as asked' });
    expect(of('Fail there', 'h1')).toMatchObject({ result: 'skipped' });
    expect(of('Hide it', 'h3')).toMatchObject({ censored: true });
    const { name } = await sessionNow(machine.database.db, id);
    expect(of('Who runs', 'h1')).toMatchObject({ stdout: `${name}\n0\n${COMMIT}\n${paths.vaultPassword}` });

    const output = await machine.output(id);
    expect(output).toContain('TASK [Fail there]');
    expect(output).toContain('PLAY RECAP');
    const stored = JSON.stringify(events) + output;
    for (const secret of [word, 'hidden-value', 'vault-word']) expect(stored).not.toContain(secret);
    const spec = await readFile(join(paths.dir, '..', '..', 'runs', machine.runId(id), 'spec.json'), 'utf8');
    for (const secret of [word, 'vault-word']) expect(spec).not.toContain(secret);

    await Promise.all([record(id), record(id)]);
    const entry = (status: string) => ({ status, commit: COMMIT, session_name: name });
    expect(await stateOf('h1')).toEqual({ error_count: 0, state: [entry('applied')] });
    expect(await stateOf('h2')).toEqual({ error_count: 2, state: [entry('failed')] });
    expect((await machine.events(id)).at(-1)?.data).toEqual({ message: 'not recorded, no such component: h3' });

    // In place once more, on the hosts that failed.
    expect(await run(id, { attempt: 2, hosts: 'failed' })).toMatchObject({ exitCode: 2, hosts: 1, failedHosts: 1 });
    const second = await machine.database.db
      .selectFrom('host_results')
      .select('host')
      .where('run_id', '=', machine.runId(id, 2))
      .execute();
    expect(second).toEqual([{ host: 'h2' }]);
  });

  test('marks fine hosts of a playbook that was broken off as incomplete', async () => {
    await components('b1', 'b2');
    const id = await machine.session(
      {
        'site.yml': playbook(
          `    - ansible.builtin.fail:\n      when: inventory_hostname == 'b1'\n`,
          '  any_errors_fatal: true\n',
        ),
      },
      { hosts: HOSTS.replace('h1', 'b1').replace('h2', 'b2').replace('h3', 'b3') },
    );
    expect(await run(id)).toMatchObject({ exitCode: 2, failedHosts: 1 });
    await record(id);
    expect([(await stateOf('b1')).error_count, (await stateOf('b2')).error_count]).toEqual([2, 1]);
    expect((await stateOf('b2')).state).toMatchObject([{ status: 'incomplete' }]);
  });

  test.each([
    [
      'a pass-through argument',
      playbook('    - ansible.builtin.debug:\n'),
      { ansiblePassthrough: '--extra-vars x=1' },
      0,
      3,
    ],
    ['a limit that matches nothing', playbook('    - ansible.builtin.debug:\n'), { ansibleLimit: 'nowhere' }, 1, 0],
    ['no task', playbook('    []\n'), {}, 0, 0],
  ])('records no state with %s', async (_title, text, given, exitCode, hosts) => {
    await components('h1');
    const id = await machine.session({ 'site.yml': text }, given);
    expect(await run(id)).toMatchObject({ exitCode, hosts });
    await record(id);
    expect(await stateOf('h1')).toEqual({ error_count: 1, state: [] });
  });

  test('is no success when what its hosts reached could not be written', async () => {
    await components('h1');
    const id = await machine.session({ 'site.yml': '' });
    const layerDir = machine.deps.workspaces.layerDir(id, 0);
    const draft = join(layerDir, '../../../runs', machine.runId(id), '.results.json');
    // What cannot be written any more, as on a full disk.
    const spoil = playbook(`    - raw: "rm -f ${draft} && mkdir ${draft}"\n      run_once: true\n`);
    await writeFile(join(layerDir, 'site.yml'), spoil);
    expect(await run(id)).toMatchObject({ exitCode: RESULTS_LOST, hosts: 1, brokeOff: true });
    const warnings = (await machine.events(id))
      .filter(({ type }) => type === 'warning')
      .map(({ data }) => data.message);
    expect(warnings).toEqual([
      'the results of this run could not be written and are not recorded: Is a directory',
      'the results of the run could not be written, most likely on a full disk; its hosts have what their tasks say',
    ]);
    await record(id);
    expect(await stateOf('h1')).toMatchObject({ error_count: 1, state: [{ status: 'incomplete' }] });
  });

  test.each([
    ['noop', 0, 0],
    ['fail', 2, 1],
    ['none', null, 0],
  ] as [string, number | null, number][])('runs the built-in playbook %s', async (name, exitCode, hosts) => {
    await components('localhost');
    const snapshot = {
      layers: [],
      additional_inventory: null,
      debug_playbook: name,
      ansible_config: 'cfs-default-ansible-cfg',
    };
    const id = await machine.session({}, { snapshot, configurationName: `debug_${name}` });
    if (exitCode === null) return expect(run(id)).rejects.toMatchObject({ code: 'playbook_missing' });
    expect(await run(id)).toMatchObject({ playbook: `${name}.yaml`, exitCode, hosts });
    await record(id);
    expect(await stateOf('localhost')).toEqual({ error_count: 1, state: [] });
  });

  test('is not begun when a layer requires a collection that is not installed', async () => {
    const files = (required: string) => ({
      'site.yml': playbook('    - ansible.builtin.debug:\n'),
      'collections/requirements.yml': required,
      'collections/ansible_collections/acme/own/galaxy.yml': 'version: 1.2.3\n',
    });
    const missing = await machine.session(files('collections: [nosuch.other, acme.own]\n'));
    await expect(run(missing)).rejects.toMatchObject({
      code: 'collection_missing',
      message: expect.stringMatching(
        /layer 1: collections\/requirements.yml asks for the collection nosuch.other, .*not/,
      ),
    });
    expect(
      await machine.database.db.selectFrom('runs').selectAll().where('session_id', '=', missing).execute(),
    ).toEqual([]);
    const older = await machine.session(files("collections: [{name: acme.own, version: '>=2'}]\n"));
    await expect(run(older)).rejects.toMatchObject({ message: expect.stringContaining('but 1.2.3 is installed') });
    const fine = await machine.session(files("collections: [{name: acme.own, version: '>=1.2,<2'}]\n"));
    expect(await run(fine)).toMatchObject({ exitCode: 0 });
  });

  test('takes a limit that is longer than any argument', async () => {
    const hosts = Array.from({ length: 2_500 }, (_, index) => `a-host-with-a-rather-long-name-${index}`);
    const ansibleLimit = ['h2', ...hosts].join(',');
    expect(ansibleLimit.length).toBeGreaterThan(64 * 1024);
    const id = await machine.session({ 'site.yml': playbook('    - ansible.builtin.debug:\n') }, { ansibleLimit });
    expect(await run(id)).toMatchObject({ exitCode: 0, hosts: 1 });
    const { limit } = machine.deps.workspaces.paths(id);
    expect((await stat(limit)).mode & 0o777).toBe(0o600);
  });

  test('opens vaults with the password of the installation, also with one that was set right before a retry', async () => {
    const id = await machine.session({});
    const paths = machine.deps.workspaces.paths(id);
    await machine.deps.workspaces.writePrivate(paths.vaultPassword, 'vault-word');
    const vault = [
      join(dirname(machine.deps.playbookCommand), 'ansible-vault'),
      'encrypt_string',
      '--name',
      'sealed',
      'opened',
    ];
    const [program = '', ...words] = vault;
    const { stdout } = await promisify(execFile)(program, [...words, '--vault-password-file', paths.vaultPassword], {
      env: machine.deps.baseEnvironment,
    });
    expect(stdout).toContain('$ANSIBLE_VAULT');
    const vars = `  vars:\n${stdout.trimEnd().replace(/^/gm, '    ')}\n`;
    await mkdir(machine.deps.workspaces.layerDir(id, 0));
    const file = join(machine.deps.workspaces.layerDir(id, 0), 'site.yml');
    await writeFile(
      file,
      playbook('    - ansible.builtin.debug:\n        msg: "{{ sealed }}"\n      run_once: true\n', vars),
    );
    const attempt = async (number: number, password: string | null) => {
      const worker = machine.worker({ site: { ...machine.deps.site, vaultPassword: async () => password } });
      const { exitCode } = await perform(() => worker.runLayer({ ...machine.ref(id), attempt: number }));
      return [exitCode === 0, await readFile(paths.vaultPassword, 'utf8').catch(() => null)];
    };
    expect(await attempt(1, null)).toEqual([false, null]);
    expect(await attempt(2, 'another-word')).toEqual([false, 'another-word']);
    expect(await attempt(3, 'vault-word')).toEqual([true, 'vault-word']);
    const results = (await machine.events(id)).filter(({ type }) => type === 'host_result');
    expect(results.at(-1)?.data).toMatchObject({ result: 'ok', message: 'opened' });
  });

  test('is ended within 10 s with tasks that ignore TERM and with what they left in the background', async () => {
    const id = await machine.session(
      {
        'site.yml': playbook(`    - name: In the background
      ansible.builtin.command: sleep 600
      async: 600
      poll: 0
    - name: Stubborn
      ansible.builtin.shell: "trap '' TERM; while :; do sleep 0.2; done"
`),
      },
      { hosts: HOSTS.replace('h2\nh3\n', '') },
    );
    const running = run(id);
    running.catch(() => undefined);
    const runId = machine.runId(id);
    await eventually('the stubborn task', async () => {
      for (const pid of await processesWith(runId)) {
        const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
        if (command.includes("trap '' TERM; while") && command.startsWith('/bin/sh')) return true;
      }
      return false;
    });
    await machine.cancelRun(id);
    expect(await processesWith(runId)).toEqual([]);
    const { exitCode } = await running;
    expect(exitCode).not.toBe(0);
    await record(id);
  });
});
