import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { InventoryComponent } from '../../../domain/components/inventory/inventory.ts';
import type { HostVariables, InventoryTree } from '../../../domain/components/inventory/inventory-tree.ts';
import { createInventories, type WriteInventory } from '../../../drivers/inventory/create-inventories.ts';
import { addEnvironmentVariables } from '../../../drivers/inventory/environment-vars.ts';
import { writeInventory } from '../../../drivers/inventory/write-inventory.ts';
import { ansibleBin, findAnsible } from '../../support/ansible/ansible.ts';
import { fleetRecords } from '../../support/fakes/fleet-records.ts';
import { describeNeeding } from '../../support/requirement.ts';

const run = promisify(execFile);
let root: string;
let count = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'muster-inventory-'));
  await writeFile(join(root, 'ansible.cfg'), '[defaults]\n');
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function folder(files: Record<string, string> = {}): Promise<string> {
  const dir = join(root, String(count++), 'hosts');
  await mkdir(dir, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, name), content);
  }
  return dir;
}

const request = (dir: string, given: Partial<WriteInventory> = {}): WriteInventory => ({
  definition: 'dynamic',
  groups: [],
  limit: '',
  scope: 'limit',
  allowPartial: false,
  form: 'data',
  dir,
  signal: new AbortController().signal,
  ...given,
});

const fromComponents = (components: InventoryComponent[]) =>
  createInventories({
    kind: 'components',
    allowLocalConnection: true,
    anyGroup: async () => false,
    ...fleetRecords(components),
  });

const plugins = join(import.meta.dirname, '..', '..', '..', 'ansible', 'plugins');
const withPlugin = {
  ANSIBLE_INVENTORY_PLUGINS: join(plugins, 'inventory'),
  ANSIBLE_INVENTORY_ENABLED: 'muster_fleet,host_list,script,auto,yaml,ini,toml',
};

/** What real Ansible makes of an inventory folder, by default with Muster's inventory plugin. */
async function ansible(
  dir: string,
  settings: Record<string, string> = withPlugin,
): Promise<{
  hosts: Record<string, Record<string, unknown>>;
  groups: Record<string, string[]>;
  stdout: string;
  stderr: string;
}> {
  const bin = ansibleBin();
  const { stdout, stderr } = await run(join(bin, 'ansible-inventory'), ['-i', dir, '--list'], {
    cwd: dirname(dir),
    maxBuffer: 64 * 1024 * 1024,
    env: {
      PATH: `${bin}${delimiter}${process.env.PATH}`,
      HOME: root,
      ANSIBLE_CONFIG: join(root, 'ansible.cfg'),
      LC_ALL: 'C.UTF-8',
      ...settings,
    },
  });
  const { _meta, ...groups } = JSON.parse(stdout);
  const named = Object.entries(groups).map(([name, group]) => [
    name,
    [...((group as { hosts?: string[] }).hosts ?? [])].sort(),
  ]);
  return { hosts: _meta.hostvars, groups: Object.fromEntries(named), stdout, stderr };
}

describeNeeding(findAnsible() === null ? 'no Ansible is installed' : null, 'what real Ansible reads', () => {
  test('is exactly the hosts, groups and variables of the components', async () => {
    const dir = await folder();
    const inventories = fromComponents([
      { id: 'node1', tags: { role: 'web', ansible_host: '127.0.0.1', ansible_port: '2222', ansible_user: 'root' } },
      {
        id: 'node2',
        tags: { role: 'web', ansible_connection: 'local', ansible_python_interpreter: '/usr/bin/python3' },
      },
      { id: '0x12', tags: {} },
      { id: 'yes', tags: { '1st': 'no' } },
    ]);
    expect(await inventories.write(request(dir))).toEqual({ hosts: 4, limit: null, warnings: [] });
    const read = await ansible(dir);
    expect(Object.keys(read.hosts).sort()).toEqual(['0x12', 'node1', 'node2', 'yes']);
    expect(read.hosts.node1).toMatchObject({ ansible_port: 2222, cray_cfs_image: false });
    expect(read.groups).toMatchObject({ role_web: ['node1', 'node2'], '1st_no': ['yes'], ungrouped: ['0x12'] });
  });

  test.each(['with', 'without'])(
    'is the same of data as of YAML, %s the plugin, beside additional inventory and with odd names',
    async (how) => {
      const value = "{{ lookup('pipe', 'false') }} é 'x' \" \\ \u{1F511}";
      const names = ['a', 'b', 'c', '0x12', 'yes', 'null', '1', '010', '__proto__', 'localhost', 'a.b-c'];
      const dynamic: InventoryTree = {
        below: 'all',
        hosts: new Map<string, HostVariables>(
          names.map((name, index): [string, HostVariables] => [
            name,
            index % 2 ? {} : { text: value, ansible_port: index, flag: true },
          ]),
        ),
        groups: new Map([
          ['role_web', ['c', 'a', 'yes', 'only-here']],
          ['ungrouped', ['b']],
          ['empty', []],
          ['1st_no', ['null', 'a']],
          ['__proto__', ['__proto__', '1']],
          ['Röle x', ['010']],
        ]),
      };
      const spec: InventoryTree = {
        below: 'top',
        hosts: new Map(),
        groups: new Map([
          ['web', ['a', 'fe80::1', '10.0.0.1']],
          ['cfs_image', ['a']],
          ['db-x', []],
        ]),
        memberVariables: new Map([['cfs_image', new Map([['a', { ansible_host: value, ansible_port: 22 }]])]]),
      };
      for (const tree of [dynamic, spec, { ...dynamic, groups: new Map() }, { ...spec, groups: new Map() }]) {
        const additional = {
          '00-first.yml': 'role_web:\n  vars: {colour: blue}\n  hosts:\n    b: {mine: 1, text: first}\n    z: {}\n',
          '02-more.ini': 'z text=last\n[parent:children]\nrole_web\n[web]\na\n',
          'group_vars/role_web.yml': 'shape: round\n',
          'host_vars/a.yml': 'of_host: 1\n',
        };
        const [yaml, data] = [await folder(additional), await folder(additional)];
        await writeInventory(yaml, tree, 'yaml');
        await writeInventory(data, tree, 'data');
        const [before, now] = [await ansible(yaml, {}), await ansible(data, how === 'with' ? withPlugin : {})];
        expect(now.stdout).toBe(before.stdout);
        expect(Object.keys(now.groups).length).toBeGreaterThan(3);
      }
    },
  );

  test('of a file of that name in a repository is what the repository says', async () => {
    for (const text of [
      '{"all":{"vars":{"colour":"blue"},"hosts":{"a":{"mine":1},"b":null}}}',
      '{"all":{"hosts":{"a":{"mine":"{{ 1 + 1 }}"},"b":{"more":[1]}}}}',
      'all:\n  vars: {colour: blue}\n  hosts:\n    a: {mine: 1}\n',
      'broken',
    ]) {
      const dir = await folder({ '01-cfs-generated.yaml': text });
      expect((await ansible(dir)).stdout).toBe((await ansible(dir, {})).stdout);
    }
  });

  test('of files that come with a repository is nothing, said in one warning', async () => {
    const files = {
      LICENSE: 'Permission is hereby granted: free\n',
      Makefile: 'all:\n\techo\n',
      VERSION: '1.2.3\n',
      'docs/logo.png': 'x',
      'run.sh': 'echo\n',
    };
    const inventories = {
      hosts: 'h1\n',
      security: 'h2\n',
      'install.yml': 'ungrouped: {hosts: {h3: }}\n',
      'version.ini': 'h4\n',
    };
    const { groups, stderr } = await ansible(await folder({ ...files, ...inventories }));
    expect(groups.ungrouped?.toSorted()).toEqual(['h1', 'h2', 'h3', 'h4']);
    expect(stderr.match(/\[WARNING\]/g)).toHaveLength(2);
    expect(stderr.replaceAll('\n', ' ')).toMatch(/left out of it: LICENSE, Makefile, VERSION, run.sh \(in/);
    expect(stderr.replaceAll('\n', ' ')).toMatch(/left out of it: logo.png \(in/);
  });

  test('is neither executed nor templated nor expanded, whatever a record says', async () => {
    const dir = await folder();
    const mark = join(root, 'executed');
    const lookup = `{{ lookup('pipe', 'touch ${mark}') }}`;
    const inventories = fromComponents([
      {
        id: 'good',
        tags: { note: lookup, [lookup]: 'x', ansible_ssh_extra_args: lookup, 'a: !unsafe "x': 'y\n  "z": 1' },
      },
      { id: 'x[0:3]', tags: {} },
      { id: 'h:22', tags: {} },
      { id: lookup, tags: {} },
      { id: 'bad-user', tags: { ansible_user: lookup } },
      { id: 'bad-host', tags: { ansible_host: lookup } },
    ]);
    const { hosts, warnings } = await inventories.write(request(dir));
    expect(hosts).toBe(1);
    expect(warnings).toHaveLength(5);
    const read = await ansible(dir);
    expect(Object.keys(read.hosts)).toEqual(['good']);
    expect(Object.keys(read.hosts.good ?? {})).toEqual(['cray_cfs_image']);
    expect(existsSync(mark)).toBe(false);
  });

  test('of a text that the rules would have stopped is still only data', async () => {
    const dir = await folder();
    const mark = join(root, 'templated');
    const value = `{{ lookup('pipe', 'touch ${mark}') }}`;
    const tree = {
      hosts: new Map([['a', { ansible_connection: 'local', word: value }]]),
      groups: new Map([['web', ['a']]]),
    };
    await writeInventory(dir, { below: 'all', ...tree }, 'data');
    const bin = ansibleBin();
    const env = {
      PATH: `${bin}${delimiter}${process.env.PATH}`,
      HOME: root,
      ANSIBLE_CONFIG: join(root, 'ansible.cfg'),
      LC_ALL: 'C.UTF-8',
    };
    const args = ['all', '-i', dir, '-m', 'debug', '-a', 'var=word'];
    const { stdout } = await run(join(bin, 'ansible'), args, { env, cwd: dirname(dir) });
    expect(stdout).toContain('lookup(');
    expect(existsSync(mark)).toBe(false);
  });

  test('of a spec target is its groups, with a text in an additional inventory winning over them', async () => {
    const dir = await folder({ '02-more.yml': 'web:\n  vars:\n    colour: blue\n  hosts:\n    c: {}\n' });
    const groups = [
      { name: 'web', members: ['a', 'fe80::1'] },
      { name: 'db-x', members: ['b'] },
    ];
    expect(
      await createInventories({ kind: 'hsm', read: () => Promise.reject(new Error('not asked')) }).write(
        request(dir, { definition: 'spec', groups }),
      ),
    ).toEqual({ hosts: 3, limit: null, warnings: [] });
    const read = await ansible(dir);
    expect(read.groups).toMatchObject({ web: ['a', 'c', 'fe80::1'], 'db-x': ['b'] });
  });

  test.each<[string, Record<string, string>]>([
    ['nothing', {}],
    ['a folder', { 'group_vars/all/main.yml': 'mine: 1\n' }],
    [
      'a folder with our file',
      {
        'group_vars/all/main.yml': 'mine: 1\n',
        'group_vars/all/cray_cfs_environment.yaml': 'cray_cfs_image: true\n',
      },
    ],
    ['a file', { 'group_vars/all': 'mine: 1\n' }],
    ['a file without end of line', { 'group_vars/all': 'mine: 1' }],
    ['all.yml', { 'group_vars/all.yml': '---\nmine: 1\ncray_cfs_image: true\n' }],
    ['all.yaml in flow style', { 'group_vars/all.yaml': '{mine: 1}\n' }],
    ['all.json', { 'group_vars/all.json': '{"mine": 1}' }],
    ['a file with an end mark', { 'group_vars/all.yml': '---\nmine: 1\n...\n' }],
    ['a folder all.yml', { 'group_vars/all.yml/main.yml': 'mine: 1\n' }],
    ['an empty file', { 'group_vars/all.yml': '' }],
    ['a file of comments', { 'group_vars/all.yml': '# nothing\n' }],
    ['a text at the end', { 'group_vars/all.yml': 'mine: |\n  1' }],
  ])('has the variables of the repository and ours, where they were kept in %s', async (title, files) => {
    const dir = await folder({ ...files, '02-host.yml': 'all:\n  hosts:\n    a: {}\n' });
    await addEnvironmentVariables(dir);
    await addEnvironmentVariables(dir);
    const { hosts } = await ansible(dir);
    expect(hosts.a?.cray_cfs_image).toBe(false);
    expect(hosts.a?.mine).toEqual(/nothing|empty|comments/.test(title) ? undefined : expect.anything());
  });
});

describe('variables for all hosts', () => {
  test('are a line at the end of a file, once', async () => {
    const dir = await folder({ 'group_vars/all.yml': '# mine\nmine: 1' });
    await addEnvironmentVariables(dir);
    await addEnvironmentVariables(dir);
    expect(await readFile(join(dir, 'group_vars', 'all.yml'), 'utf8')).toBe('# mine\nmine: 1\ncray_cfs_image: false\n');
  });

  test('leave an encrypted file as it is, in a folder beside ours', async () => {
    const vault = '$ANSIBLE_VAULT;1.1;AES256\n6162636465\n';
    const dir = await folder({ 'group_vars/all': vault });
    await addEnvironmentVariables(dir);
    await addEnvironmentVariables(dir);
    expect(await readFile(join(dir, 'group_vars', 'all', 'all'), 'utf8')).toBe(vault);
    expect(await readFile(join(dir, 'group_vars', 'all', 'cray_cfs_environment.yaml'), 'utf8')).toBe(
      'cray_cfs_image: false\n',
    );
  });

  test.each(['group_vars', 'group_vars/all', 'group_vars/all.yml', 'group_vars/all/cray_cfs_environment.yaml'])(
    'are never written through a link at %s that leads out',
    async (name) => {
      const dir = await folder();
      const outside = join(dirname(dir), 'outside');
      await mkdir(dirname(join(dir, name)), { recursive: true });
      if (name === 'group_vars') await mkdir(outside);
      else await writeFile(outside, 'kept: 1\n');
      await symlink(outside, join(dir, name));
      const result = await addEnvironmentVariables(dir).catch((error: unknown) => error);
      if (name.endsWith('environment.yaml')) expect(result).toBeUndefined();
      else expect(result).toMatchObject({ code: 'repository_unsafe' });
      if (name === 'group_vars') expect(await readdir(outside)).toEqual([]);
      else expect(await readFile(outside, 'utf8')).toBe('kept: 1\n');
    },
  );

  test('replace a link inside the repository by a file of its own', async () => {
    const dir = await folder({ 'shared.yml': 'mine: 1\n' });
    await mkdir(join(dir, 'group_vars'));
    await symlink('../shared.yml', join(dir, 'group_vars', 'all.yml'));
    await addEnvironmentVariables(dir);
    expect(await readFile(join(dir, 'shared.yml'), 'utf8')).toBe('mine: 1\n');
    expect(await readFile(join(dir, 'group_vars', 'all.yml'), 'utf8')).toBe('mine: 1\ncray_cfs_image: false\n');
  });
});

describe('the folder of the inventory', () => {
  const one = fromComponents([{ id: 'a', tags: {} }]);

  test.each(['nothing', 'a file', 'a link'])('is made where %s is', async (what) => {
    const dir = await folder();
    await rm(dir, { recursive: true });
    if (what === 'a file') await writeFile(dir, 'a');
    if (what === 'a link') await symlink(root, dir);
    await one.write(request(dir));
    expect((await lstat(dir)).isDirectory()).toBe(true);
    expect((await readdir(dir)).sort()).toEqual(['01-cfs-generated.yaml', 'group_vars']);
  });

  test('loses a link that stands where the generated file goes, and nothing is written through it', async () => {
    const dir = await folder();
    const outside = join(dirname(dir), 'outside');
    await writeFile(outside, 'kept');
    await symlink(outside, join(dir, '01-cfs-generated.yaml'));
    await one.write(request(dir));
    expect(await readFile(outside, 'utf8')).toBe('kept');
    expect(await readFile(join(dir, '01-cfs-generated.yaml'), 'utf8')).toContain('"a":{}');
  });

  test('with a folder where the generated file goes is refused', async () => {
    const dir = await folder({ '01-cfs-generated.yaml/x': '' });
    await expect(one.write(request(dir))).rejects.toMatchObject({ code: 'inventory_invalid' });
  });

  test('of a repo target must hold something, and nothing is generated', async () => {
    const empty = await folder({ '.git/HEAD': 'x' });
    await expect(one.write(request(empty, { definition: 'repo' }))).rejects.toMatchObject({ code: 'inventory_empty' });
    await expect(one.write(request(join(empty, 'none'), { definition: 'repo' }))).rejects.toMatchObject({
      code: 'inventory_empty',
    });
    const dir = await folder({ 'hosts.yml': 'all:\n  hosts:\n    a: {}\n' });
    expect(await one.write(request(dir, { definition: 'repo' }))).toEqual({ hosts: null, limit: null, warnings: [] });
    expect((await readdir(dir)).sort()).toEqual(['group_vars', 'hosts.yml']);
  });

  test('of an image target names the images, and in a group of its own where each is', async () => {
    const [a, b] = ['5e0c2b4e-2f0a-4d57-9f3e-0f6a3c6f0d11', '6f1d3c5f-2f0a-4d57-9f3e-0f6a3c6f0d22'];
    const dir = await folder();
    const groups = [
      { name: 'Compute', members: [b, a] },
      { name: 'gpu', members: [b] },
    ];
    const open = [
      { image: a, resultName: 'x', job: 'j1', host: 'ims-1.example', port: 22 },
      { image: b, resultName: 'y', job: 'j2', host: '10.0.0.7', port: 2022 },
    ];
    const images = { open, keyFile: '/keys/id_image', interpreter: '/usr/bin/env python3' };
    const written = await one.write(request(dir, { definition: 'image', groups, images }));
    expect(written).toMatchObject({ hosts: 2, warnings: [] });
    const unsafe = (value: string) => ({ __ansible_unsafe: value });
    const host = (at: string, port: number) => ({
      ansible_host: unsafe(at),
      ansible_port: port,
      cray_cfs_image: true,
      ansible_python_interpreter: unsafe('/usr/bin/env python3'),
      ansible_ssh_private_key_file: unsafe('/keys/id_image'),
    });
    expect(JSON.parse(await readFile(join(dir, '01-cfs-generated.yaml'), 'utf8'))).toEqual({
      Compute: { hosts: { [a]: {}, [b]: {} } },
      gpu: { hosts: { [b]: {} } },
      cfs_image: { hosts: { [a]: host('ims-1.example', 22), [b]: host('10.0.0.7', 2022) } },
    });
  });
});

describe('the scope of a limit', () => {
  const fleet = fromComponents([
    { id: 'a', tags: { role: 'web' } },
    { id: 'b', tags: { role: 'web' } },
    { id: 'c', tags: { role: 'db' } },
  ]);
  test.each([
    ['names of components give just these', 'a,c', 'limit', 2],
    ['a name that is none gives all', 'a,role_web', 'limit', 3],
    ['a pattern gives all', 'a*', 'limit', 3],
    ['no limit gives all', '', 'limit', 3],
    ['scope all gives all', 'a', 'all', 3],
  ] as const)('%s', async (_title, limit, scope, hosts) => {
    const written = await fleet.write(request(await folder(), { limit, scope }));
    expect(written.hosts).toBe(hosts);
    expect(written.warnings).toEqual(
      hosts === 3 ? [] : [expect.stringMatching(/inventory_scope is limit.*groups.*hostvars.*delegate_to/)],
    );
  });
});
