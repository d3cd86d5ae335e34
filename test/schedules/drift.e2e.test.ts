/** Checks with real playbooks: drift made by hand is found, nothing is changed, nothing leaks, and on request it is mended. */
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ansibleBin } from '../support/ansible/ansible.ts';
import { eventually } from '../support/eventually.ts';
import { describeNeeding } from '../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

const HOSTS = ['h1', 'h2', 'h3'];
/** How long a session may take on a machine that has much else to do, ms. */
const PATIENCE = 180_000;
const HIDDEN = 'hidden-by-no-log';
const VAULTED = 'out-of-the-vault';
const VAULT_PASSWORD = 'opens-the-vault';

const playbook = (hosts: string, vaulted: string) => `
- name: Web
  hosts: all
  gather_facts: false
  vars:
    place: "${hosts}/{{ inventory_hostname }}"
    password: !vault |
${vaulted.replace(/^/gm, '      ')}
  roles: [app]
  tasks:
    - name: Copy the page
      ansible.builtin.copy: {content: "hello\\n", dest: "{{ place }}/page", mode: "0640"}
    - name: Keep a line
      ansible.builtin.lineinfile: {path: "{{ place }}/lines", line: kept, create: true}
    - name: Keep a directory
      ansible.builtin.file: {path: "{{ place }}/data", state: directory, mode: "0750"}
    - name: Write a secret
      no_log: true
      ansible.builtin.copy: {content: "${HIDDEN}", dest: "{{ place }}/secret"}
`;
const ROLE = `
- name: Write the settings
  ansible.builtin.template: {src: app.conf.j2, dest: "{{ place }}/app.conf"}
  notify: Restart
`;
const HANDLERS = `
- name: Restart
  ansible.builtin.shell: date +%N >> {{ place }}/restarts
`;
const MORE = `
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.debug:
`;

/** Every file below a folder with its content, mode and time of change. */
async function tree(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const lines = entries.map(async (entry) => {
    const path = join(entry.parentPath, entry.name);
    const { mode, mtimeMs } = await stat(path);
    return `${path} ${mode} ${mtimeMs} ${entry.isFile() ? await readFile(path, 'utf8') : ''}`;
  });
  return (await Promise.all(lines)).sort();
}

describeNeeding(stackMissing(), 'a check for drift', () => {
  let stack: MusterStack;
  let hosts: string;
  let commit: string;
  beforeAll(async () => {
    stack = await startMusterStack();
    hosts = join(stack.dataDir, 'hosts');
    for (const host of HOSTS) await mkdir(join(hosts, host), { recursive: true });
    const repository = await stack.repository('plays');
    commit = await repository.commit({
      'site.yml': playbook(hosts, await vaulted()),
      'more.yml': MORE,
      'roles/app/tasks/main.yml': ROLE,
      'roles/app/handlers/main.yml': HANDLERS,
      'roles/app/templates/app.conf.j2': 'port=8080\npassword={{ password }}\n',
    });
    const secret = await stack.call('PUT', '/api/v1/secrets/ansible-vault-password/password', {
      value: VAULT_PASSWORD,
    });
    expect(secret.status).toBeLessThan(300);
    await stack.configure('web', repository.url, ['site.yml', 'more.yml'], HOSTS);
    await patch({ desired_config: 'web' });
    await stack.create('first', 'web');
    expect(succeeded(await stack.untilComplete('first', PATIENCE))).toEqual(['true', '2 layers done on 3 hosts']);
  }, 4 * PATIENCE);
  afterAll(() => stack?.remove());

  /** The test's own secret, encrypted as a playbook has it. */
  async function vaulted(): Promise<string> {
    const file = join(stack.dataDir, 'vault-password');
    await writeFile(file, VAULT_PASSWORD, { mode: 0o600 });
    const program = join(ansibleBin(), 'ansible-vault');
    const env = { ...process.env, LANG: 'C.UTF-8' };
    const options = { input: VAULTED, encoding: 'utf8', env } as const;
    const done = spawnSync(program, ['encrypt', '--vault-password-file', file], options);
    if (done.status !== 0) throw new Error(done.stderr);
    return done.stdout.trimEnd();
  }
  const patch = async (change: object, ids = HOSTS) => {
    const answer = await stack.call('PATCH', '/v3/components', { patch: change, filters: { ids: ids.join(',') } });
    expect(answer.status).toBe(200);
  };
  const succeeded = ({ status }: { status: { session: { succeeded: string; message: string } } }) => [
    status.session.succeeded,
    status.session.message,
  ];
  const records = () =>
    stack.sql('select id, state, error_count, enabled, updated_at, actor from components order by id');
  const drift = async (query = '') => (await stack.call('GET', `/api/v1/drift${query}`)).body.drift;

  test(
    'finds what was changed by hand and changes nothing, neither hosts nor records',
    async () => {
      await writeFile(join(hosts, 'h2', 'app.conf'), 'port=9999\npassword=an-older-secret\n');
      await writeFile(join(hosts, 'h2', 'secret'), 'something-else');
      await writeFile(join(hosts, 'h3', 'page'), 'bye\n');
      await chmod(join(hosts, 'h3', 'data'), 0o777);
      await writeFile(join(hosts, 'h3', 'lines'), 'other\n');
      const [files, before] = [await tree(hosts), await records()];
      await stack.create('look', 'web', { muster: { check: true } });
      const session = await stack.untilComplete('look', PATIENCE);
      expect(succeeded(session)).toEqual(['true', '2 of 3 drifted']);
      expect(session.muster).toEqual({ check: true });
      expect(await tree(hosts)).toEqual(files);
      expect(await records()).toEqual(before);
      const list = await drift();
      expect(list.map(({ id, status, changed }: Record<string, unknown>) => [id, status, changed])).toEqual([
        ['h1', 'in_sync', 0],
        // The handler is a shell command, which check mode skips.
        ['h2', 'drifted', 2],
        ['h3', 'drifted', 3],
      ]);
      expect((await drift('?status=drifted&config_name=web')).map(({ id }: { id: string }) => id)).toEqual([
        'h2',
        'h3',
      ]);
    },
    4 * PATIENCE,
  );

  test('tells the tasks, where they are written and what they would change', async () => {
    const { body } = await stack.call('GET', '/api/v1/drift/h3');
    expect(
      body.layers.map(({ playbook, status, commit }: Record<string, unknown>) => [playbook, status, commit]),
    ).toEqual([
      ['site.yml', 'drifted', commit],
      ['more.yml', 'in_sync', commit],
    ]);
    const [{ changes, session_name }] = body.layers;
    expect(session_name).toBe('look');
    expect(changes.map(({ task, action }: Record<string, unknown>) => [task, action])).toEqual([
      ['Copy the page', 'copy'],
      ['Keep a line', 'lineinfile'],
      ['Keep a directory', 'file'],
    ]);
    expect(changes[0].file).toMatch(/^site\.yml:\d+$/);
    expect(changes[0].diff).toMatch(/-bye[\s\S]*\+hello/);
    expect(changes[2].diff).toMatch(/0777[\s\S]*0750/);
    const settings = (await stack.call('GET', '/api/v1/drift/h2')).body.layers[0].changes;
    expect(settings[0]).toMatchObject({ task: 'app : Write the settings', role: 'app', action: 'template' });
    expect(settings[0].file).toBe('roles/app/tasks/main.yml:2');
    expect(settings[0].diff).toContain('+port=8080');
    expect(settings[0].diff).toContain('+password=********');
    expect(settings.find(({ task }: { task: string }) => task === 'Write a secret')).toMatchObject({ censored: true });
    const events = await stack.sql<{ data: Record<string, unknown> }>(
      `select e.data from events e join sessions s on s.id::text = e.stream_id
        where s.name = 'look' and e.host = 'h3' and e.data ->> 'changed' = 'true' and e.data ->> 'task' = 'Copy the page'`,
    );
    expect(events[0]?.data).toMatchObject({ file: changes[0].file, action: 'copy', diff: changes[0].diff });
  });

  test('shows no secret, new or old, in anything that it leaves', async () => {
    const texts = await stack.sql<{ text: string }>(
      `select d.changes::text as text from drift d union all select e.data::text from events e
        union all select o.text from output o union all select h.changes::text from host_results h where h.changes is not null`,
    );
    const files = await readdir(join(stack.dataDir, 'runs'), { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile())) {
      texts.push({ text: await readFile(join(file.parentPath, file.name), 'utf8') });
    }
    expect(texts.length).toBeGreaterThan(50);
    for (const secret of [HIDDEN, VAULTED, 'an-older-secret', 'something-else', VAULT_PASSWORD]) {
      expect(texts.filter(({ text }) => text.includes(secret))).toEqual([]);
    }
  });

  test(
    'says what it could not find out, goes on with later layers, and is retried as a check',
    async () => {
      const tags = { ansible_connection: 'ssh', ansible_host: '127.0.0.1', ansible_port: '1' };
      expect((await stack.call('PUT', '/v3/components', [{ id: 'away', enabled: false, tags }])).status).toBe(200);
      const before = await records();
      await stack.create('some', 'web', { muster: { check: true }, ansible_limit: 'h1,h2,away' });
      const [success, message] = succeeded(await stack.untilComplete('some', PATIENCE));
      expect(success).toBe('false');
      expect(message).toMatch(/^1 of 3 drifted, 1 could not be checked: layer 1\/2 site\.yml failed/);
      expect((await drift('?ids=away'))[0]).toMatchObject({ status: 'unreachable' });
      expect(
        (await drift('?ids=h1'))[0].layers.map(({ session_name }: Record<string, unknown>) => session_name),
      ).toEqual(['some', 'some']);
      const retry = await stack.call('POST', '/api/v1/sessions/some/retry', { hosts: 'failed' });
      expect(retry.status).toBe(201);
      expect(retry.body.muster).toEqual({ check: true });
      expect(succeeded(await stack.untilComplete(retry.body.name, PATIENCE))[1]).toContain(
        '0 of 1 drifted, 1 could not be checked',
      );
      expect(await records()).toEqual(before);
      expect((await stack.call('DELETE', '/v3/components/away')).status).toBe(204);
      expect((await stack.call('GET', '/api/v1/drift/away')).status).toBe(404);
    },
    4 * PATIENCE,
  );

  test(
    'of a part by pass-through counts, and is no record of the components',
    async () => {
      const before = await drift();
      await stack.create('part', 'web', { muster: { check: true }, ansible_passthrough: '--tags none' });
      await stack.untilComplete('part', PATIENCE);
      expect(await drift()).toEqual(before);
    },
    4 * PATIENCE,
  );

  test(
    'has what drifted configured again, that and nothing else',
    async () => {
      await stack.call('PATCH', '/v3/options', { batch_window: 1, batcher_check_interval: 5 });
      await patch({ enabled: true });
      const restarts = await readFile(join(hosts, 'h1', 'restarts'), 'utf8');
      const made = await stack.call('POST', '/api/v1/drift/checks', { configuration: 'web', reconfigure: true });
      expect([made.status, made.body.components]).toEqual([201, 3]);
      expect(succeeded(await stack.untilComplete(made.body.sessions[0], PATIENCE))).toEqual(['true', '2 of 3 drifted']);
      await eventually(
        'the files are as they should be',
        async () => {
          const page = await readFile(join(hosts, 'h3', 'page'), 'utf8');
          const settings = await readFile(join(hosts, 'h2', 'app.conf'), 'utf8');
          return page === 'hello\n' && settings.startsWith('port=8080\n');
        },
        PATIENCE,
      );
      await eventually(
        'all are configured',
        async () => {
          const { body } = await stack.call('GET', '/v3/components?status=configured');
          return body.components.length === HOSTS.length;
        },
        PATIENCE,
      );
      expect(await readFile(join(hosts, 'h1', 'restarts'), 'utf8')).toBe(restarts);
      const sessions = await stack.sql<{ ansible_limit: string; configuration_limit: string }>(
        `select ansible_limit, configuration_limit from sessions where actor = 'batcher'`,
      );
      expect(sessions.flatMap(({ ansible_limit }) => ansible_limit.split(',')).sort()).toEqual(['h2', 'h3']);
      expect(new Set(sessions.map(({ configuration_limit }) => configuration_limit))).toEqual(new Set(['0']));
      await stack.create('after', 'web', { muster: { check: true } });
      expect(succeeded(await stack.untilComplete('after', PATIENCE))).toEqual(['true', '0 of 3 drifted']);
      expect((await drift()).every(({ status }: { status: string }) => status === 'in_sync')).toBe(true);
    },
    4 * PATIENCE,
  );
});
