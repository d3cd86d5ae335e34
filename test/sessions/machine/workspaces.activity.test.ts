import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findAnsible, pythonOf } from '../../../drivers/local-runner/ansible-programs.ts';
import { createWorkspaces } from '../../../drivers/local-runner/workspaces.ts';
import { readHostId } from '../../../drivers/machine/machine-id.ts';
import { describeNeeding } from '../../support/requirement.ts';

const run = promisify(execFile);

let root: string;
let count = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'muster-ws-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** Workspaces of a data directory of its own, with a long path as installations may have. */
async function place() {
  const dir = join(root, String(count++), 'a-data-directory-with-a-long-name');
  const shortDir = join(root, 'short');
  await mkdir(shortDir, { recursive: true });
  return { dir, shortDir, workspaces: createWorkspaces({ dir: join(dir, 'workspaces'), shortDir }) };
}
const SESSION = '0b6c2f0e-6f0a-4b2f-9a39-1f3a0f5b8c11';
const mode = async (path: string) => (await stat(path)).mode & 0o777;

describe('a workspace', () => {
  test('is for us alone, and its secrets too', async () => {
    const { workspaces } = await place();
    const paths = await workspaces.make(SESSION);
    await workspaces.make(SESSION);
    await workspaces.writePrivate(paths.sshKey, 'key');
    for (const path of [paths.dir, join(paths.dir, 'ssh'), paths.controlPath])
      expect([path, await mode(path)]).toEqual([path, 0o700]);
    expect(await mode(paths.sshKey)).toBe(0o600);
    await workspaces.removePrivate(paths.sshKey);
    await workspaces.removePrivate(paths.sshKey);
    await expect(stat(paths.sshKey)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await workspaces.list()).toEqual([SESSION]);
  });

  test('goes with everything of it, also twice', async () => {
    const { workspaces } = await place();
    const paths = await workspaces.make(SESSION);
    await mkdir(join(paths.dir, 'layer0', 'roles'), { recursive: true });
    await chmod(join(paths.dir, 'layer0'), 0o500);
    await workspaces.remove(SESSION);
    await workspaces.remove(SESSION);
    expect(await workspaces.list()).toEqual([]);
    await expect(stat(paths.controlPath)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('tells of the disk it is on, before there is one', async () => {
    const { workspaces } = await place();
    expect(await workspaces.list()).toEqual([]);
    expect(await workspaces.free()).toBeGreaterThan(2 ** 20);
  });
});

describe('the folder of ssh connections', () => {
  test('has a name that ssh takes, its own for each session and data directory', async () => {
    const one = await place();
    const two = await place();
    const paths = [one, two].flatMap(({ workspaces }) =>
      [SESSION, `${SESSION}x`].map((id) => workspaces.paths(id).controlPath),
    );
    expect(new Set(paths).size).toBe(4);
    const near = createWorkspaces({ dir: '/data/workspaces', shortDir: '/tmp' });
    expect(near.paths(SESSION).controlPath).toMatch(/^\/data\/cp\/[0-9a-f]{12}$/);
    const far = createWorkspaces({ dir: `/${'long/'.repeat(20)}workspaces`, shortDir: '/tmp' });
    expect(far.paths(SESSION).controlPath).toMatch(/^\/tmp\/muster-cp-[0-9a-f]{12}$/);
  });

  test.each(['a link', 'a file', 'open to others'])(
    'is refused when somebody has prepared %s in its place',
    async (what) => {
      const { workspaces } = await place();
      const { controlPath } = workspaces.paths(SESSION);
      if (what === 'a link') await symlink(await mkdtemp(join(root, 'elsewhere-')), controlPath);
      else if (what === 'a file') await writeFile(controlPath, '');
      else {
        await mkdir(controlPath);
        await chmod(controlPath, 0o777);
      }
      await expect(workspaces.make(SESSION)).rejects.toThrow(`${controlPath} was made by somebody else`);
      await rm(controlPath, { recursive: true });
      await workspaces.make(SESSION);
    },
  );
});

const asRoot = process.getuid?.() === 0 ? null : 'making a folder of another user needs root';
describeNeeding(asRoot, 'the folder of ssh connections of another user', () => {
  test('is refused', async () => {
    const { workspaces } = await place();
    const { controlPath } = workspaces.paths(SESSION);
    await mkdir(controlPath, { mode: 0o700 });
    await run('chown', ['65534', controlPath]);
    await expect(workspaces.make(SESSION)).rejects.toThrow('was made by somebody else');
  });
});

describe('a playbook', () => {
  test('is found inside its layer only, whatever its name and the links there say', async () => {
    const { workspaces, dir } = await place();
    const layer = join(dir, 'layer0');
    await mkdir(join(layer, 'plays'), { recursive: true });
    await mkdir(join(dir, 'layer00'));
    for (const path of ['layer0/site.yml', 'layer0/plays/web.yml', 'layer00/site.yml', 'outside.yml']) {
      await writeFile(join(dir, path), '');
    }
    await symlink('plays/web.yml', join(layer, 'inner.yml'));
    await symlink('../outside.yml', join(layer, 'outer.yml'));
    await symlink('..', join(layer, 'up'));
    await symlink('/etc', join(layer, 'etc'));
    await symlink('loop.yml', join(layer, 'loop.yml'));
    const found = async (name: string) => (await workspaces.inside(layer, name))?.slice(dir.length + 1) ?? null;
    expect(await found('site.yml')).toBe('layer0/site.yml');
    expect(await found('./plays/../site.yml')).toBe('layer0/site.yml');
    expect(await found('inner.yml')).toBe('layer0/plays/web.yml');
    const outside = [
      '../outside.yml',
      '../layer00/site.yml',
      'outer.yml',
      'up/outside.yml',
      'etc/passwd',
      '/etc/passwd',
    ];
    const none = ['none.yml', 'loop.yml', 'site.yml\u0000', '', '.', '..', 'site.yml/..'];
    for (const name of [...outside, ...none]) expect([name, await found(name)]).toEqual([name, null]);
    expect(await workspaces.inside(join(dir, 'no-layer'), 'site.yml')).toBeNull();
  });
});

describe('the id of a data directory', () => {
  test('is made once, also by several at once, and kept', async () => {
    const dir = join(root, 'host');
    const ids = await Promise.all(Array.from({ length: 8 }, () => readHostId(dir)));
    expect(new Set(ids).size).toBe(1);
    expect(await readHostId(dir)).toBe(ids[0]);
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-/);
    expect(await readdir(dir)).toEqual(['host-id']);
    expect(await readHostId(join(root, 'other host'))).not.toBe(ids[0]);
  });

  test('is not guessed when its file is broken', async () => {
    const dir = join(root, 'broken host');
    await mkdir(dir);
    await writeFile(join(dir, 'host-id'), '');
    await expect(readHostId(dir)).rejects.toThrow('holds no id');
    expect(await readFile(join(dir, 'host-id'), 'utf8')).toBe('');
  });
});

describe("Ansible's programs", () => {
  const program = async (bin: string, name = 'ansible-playbook') => {
    await mkdir(bin, { recursive: true });
    await writeFile(join(bin, name), '#!/bin/sh\n', { mode: 0o755 });
    return bin;
  };
  test('are those that are named, else of the newest environment, else of the search path', async () => {
    const cacheDir = join(root, 'cache');
    const inPath = await program(join(root, 'in path'));
    const options = { cacheDir, searchPath: `/nonexistent:${inPath}` };
    expect(await findAnsible({ cacheDir, searchPath: '/nonexistent' })).toBeNull();
    expect(await findAnsible(options)).toBe(inPath);
    await mkdir(join(cacheDir, 'ansible-broken', 'bin'), { recursive: true });
    await mkdir(join(cacheDir, 'temporal-1', 'bin'), { recursive: true });
    expect(await findAnsible(options)).toBe(inPath);
    const cached = await program(join(cacheDir, 'ansible-1', 'bin'));
    expect(await findAnsible(options)).toBe(cached);
    expect(await findAnsible({ ...options, binDir: '/named' })).toBe('/named');
  });

  test('bring their Python, or use the one of the machine', async () => {
    const bin = await program(join(root, 'venv'));
    expect(await pythonOf(bin)).toBe('python3');
    await program(bin, 'python3');
    expect(await pythonOf(bin)).toBe(join(bin, 'python3'));
  });
});
