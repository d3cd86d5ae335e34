/** `image import` of a folder that holds a root file system. */
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, link, lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openImageDirectory } from '../../drivers/image-files/image-directory.ts';
import { eventually } from '../support/eventually.ts';
import { cli } from '../support/stack/command-line.ts';
import { createTestApi, IMAGE_STORE, type TestApi } from '../support/stack/test-api.ts';

const MUSTER = join(import.meta.dirname, '../../muster');

let api: TestApi;
let dir: string;
let url: string;
let root: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-folder-'));
  api = await createTestApi({ imageFiles: await openImageDirectory(join(dir, 'images'), IMAGE_STORE) });
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
  root = join(dir, '-root of a machine');
  await mkdir(join(root, 'etc'), { recursive: true });
  await writeFile(join(root, 'etc/motd'), 'hello\n');
  await chmod(join(root, 'etc/motd'), 0o4750);
  await link(join(root, 'etc/motd'), join(root, 'etc/linked'));
  await symlink('/etc/motd', join(root, 'absolute'));
  await writeFile(join(root, 'large'), Buffer.alloc(300_000, 7));
});
afterAll(async () => {
  // Connections of broken off uploads end with the process of a real command line.
  api.app.server.closeAllConnections();
  await api.close();
  await rm(dir, { recursive: true, force: true });
});

const run = (...args: string[]) => cli(['image', ...args], { url });
const names = async () =>
  (await run('list', '-o', 'jsonl')).out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).name);

/** The command line as a process of its own, which finds programs where `path` says. */
async function withPath(path: string, ...args: string[]): Promise<{ exit: unknown; out: string; err: string }> {
  const env = { ...process.env, PATH: path, MUSTER_URL: url };
  const done = promisify(execFile)(process.execPath, [MUSTER, 'image', ...args], { env });
  return done.then(
    ({ stdout, stderr }) => ({ exit: 0, out: stdout, err: stderr }),
    ({ code, stdout, stderr }) => ({ exit: code, out: stdout, err: stderr }),
  );
}

test('a folder becomes an image of its name, with owners, modes and links', async () => {
  const imported = await run('import', root, '-o', 'json');
  expect(imported).toMatchObject({ exit: 0, err: expect.stringContaining('tar') });
  const [image] = JSON.parse(imported.out);
  expect(image).toMatchObject({ name: '-root of a machine', format: 'tar' });
  const file = join(dir, 'out.tar');
  expect(await run('export', image.id, file)).toMatchObject({ exit: 0 });
  expect(
    createHash('sha256')
      .update(await readFile(file))
      .digest('hex'),
  ).toBe(image.sha256);
  const { uid, gid } = await lstat(root);
  const listed = execFileSync('tar', ['--numeric-owner', '-tvf', file], { encoding: 'utf8' });
  expect(listed).toMatch(new RegExp(`^drwx\\S+ +${uid}/${gid} .* \\./$`, 'm'));
  expect(listed).toMatch(/^-rwsr-x--- .* \.\/etc\/(motd|linked)$/m);
  expect(listed).toMatch(/^hrwsr-x--- .* \.\/etc\/(motd|linked) link to \.\/etc\/(motd|linked)$/m);
  expect(listed).toMatch(/ \.\/absolute -> \/etc\/motd$/m);
});

test('extended attributes are kept', async () => {
  const marked = join(dir, 'marked');
  await mkdir(marked);
  await writeFile(join(marked, 'file'), '');
  execFileSync('python3', [
    '-c',
    `import os, sys; os.setxattr(sys.argv[1], "user.colour", b"red")`,
    join(marked, 'file'),
  ]);
  const imported = await run('import', marked, '--name', 'x', '-o', 'json');
  expect(imported).toMatchObject({ exit: 0 });
  const [{ id }] = JSON.parse(imported.out);
  await run('export', id, join(dir, 'x.tar'));
  expect((await readFile(join(dir, 'x.tar'))).includes('SCHILY.xattr.user.colour=red')).toBe(true);
});

test('what could not be read makes no image of the rest, and says so', async () => {
  const partial = join(dir, 'partial');
  await mkdir(partial);
  await writeFile(join(partial, 'big'), Buffer.alloc(300_000));
  const before = await names();
  // A tar that is given up halfway, as one that meets a file it may not read.
  const bin = join(dir, 'bin');
  await mkdir(bin);
  const real = execFileSync('which', ['tar'], { encoding: 'utf8' }).trim();
  await writeFile(
    join(bin, 'tar'),
    `#!/bin/sh\n${real} "$@"\necho 'tar: ./secret: Cannot open: Permission denied' >&2\nexit 2\n`,
  );
  await chmod(join(bin, 'tar'), 0o755);
  const failed = await withPath(`${bin}:${process.env.PATH}`, 'import', partial);
  expect(failed).toMatchObject({ exit: 1, out: '' });
  expect(failed.err).toContain('folder_not_packed');
  expect(failed.err).toContain('./secret: Cannot open: Permission denied');
  const missing = await withPath(join(dir, 'no such folder'), 'import', partial);
  expect(missing.err).toContain('there is no tar on this machine');
  expect(await names()).toEqual(before);
  const incoming = () => readdir(join(dir, 'images', 'incoming'));
  await eventually('nothing of it is left', async () => (await incoming()).length === 0);
});

test('an API that refuses ends the tar', async () => {
  const refused = await run('import', root, '--sha256', 'a'.repeat(64));
  expect(refused.exit).not.toBe(0);
  // It is told to end, and may still be there for a moment.
  await eventually(
    'the tar is gone',
    () => !execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).includes(`--directory=${root}`),
  );
});

test.each([
  ['/dev/null', 'neither a file nor a folder'],
  ['/', 'has no name'],
  ['/no/such/file', 'cannot be read (ENOENT)'],
])('%s: %s', async (file, says) => {
  const answer = await run('import', file);
  expect(answer.exit).toBe(2);
  expect(answer.err).toContain(says);
});
