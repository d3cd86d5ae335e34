import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openSshFiles } from '../../drivers/secrets/ssh-files.ts';
import { makeSshPrivateKey } from '../../drivers/secrets/ssh-key-pair.ts';
import { findProgram } from '../support/find-program.ts';
import { describeNeeding } from '../support/requirement.ts';

const run = promisify(execFile);
let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'muster-ssh-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

test('the key is a file for us alone, also when several need it at once', async () => {
  const dir = join(root, 'once');
  const files = openSshFiles(dir);
  const answers = await Promise.all(Array.from({ length: 8 }, () => files({ privateKey: 'key\n', knownHosts: '' })));
  expect(new Set(answers.map(({ key }) => key))).toEqual(new Set([join(dir, 'id')]));
  expect(await readFile(join(dir, 'id'), 'utf8')).toBe('key\n');
  expect((await stat(join(dir, 'id'))).mode & 0o777).toBe(0o600);
  expect((await stat(dir)).mode & 0o777).toBe(0o700);
  expect(await readdir(dir)).toEqual(['id']);
});

test('a new key replaces the old one', async () => {
  const dir = join(root, 'new');
  const files = openSshFiles(dir);
  await files({ privateKey: 'one\n', knownHosts: '' });
  await files({ privateKey: 'two\n', knownHosts: '' });
  expect(await readFile(join(dir, 'id'), 'utf8')).toBe('two\n');
});

test('known hosts are added once, and what ssh has learnt stays', async () => {
  const dir = join(root, 'known');
  const files = openSshFiles(dir);
  const { knownHosts } = await files({ privateKey: 'k', knownHosts: 'a ssh-ed25519 AAAA1\n\nb ssh-ed25519 AAAA\n' });
  await writeFile(knownHosts, `${await readFile(knownHosts, 'utf8')}c ssh-ed25519 LEARNT\n`);
  await files({ privateKey: 'k', knownHosts: 'a ssh-ed25519 AAAA1\na ssh-ed25519 AAAA\n' });
  expect((await readFile(knownHosts, 'utf8')).split('\n')).toEqual([
    'a ssh-ed25519 AAAA1',
    'b ssh-ed25519 AAAA',
    'c ssh-ed25519 LEARNT',
    // Part of another line, and still a line of its own.
    'a ssh-ed25519 AAAA',
    '',
  ]);
});

describeNeeding(
  findProgram('ssh-keygen') === null ? 'ssh-keygen: Debian package openssh-client' : null,
  'a new key',
  () => {
    test('is one that ssh reads, and another each time', async () => {
      const path = join(root, 'generated');
      await writeFile(path, makeSshPrivateKey());
      await chmod(path, 0o600);
      const { stdout } = await run('ssh-keygen', ['-y', '-P', '', '-f', path]);
      expect(stdout).toMatch(/^ecdsa-sha2-nistp384 /);
      expect(makeSshPrivateKey()).not.toBe(makeSshPrivateKey());
    });
  },
);
