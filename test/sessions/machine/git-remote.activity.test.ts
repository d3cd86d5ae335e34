import { execFileSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isMusterError } from '../../../domain/errors.ts';
import type { CloneRequest } from '../../../drivers/git/clone.ts';
import { createGit, type Git } from '../../../drivers/git/create-git.ts';
import { sshCommand } from '../../../drivers/git/git-access.ts';
import { type SshServer, sshMissing, startSshServer } from '../../support/ansible/ssh-server.ts';
import { eventually } from '../../support/eventually.ts';
import { findProgram } from '../../support/find-program.ts';
import { type GitHttpServer, makeCertificates, startGitHttpServer } from '../../support/git/git-http-server.ts';
import { createRepository, type TestRepository } from '../../support/git/git-repository.ts';
import { describeNeeding } from '../../support/requirement.ts';

const signal = new AbortController().signal;
const account = { username: 'ada', password: "hunter'2 $(touch x)" };
const withheld = { code: 'credentials_withheld', detail: 'name the host' } as const;
let root: string;
let count = 0;
let repository: TestRepository;
let commit: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'muster-git-remote-'));
  repository = await createRepository(join(root, 'served', 'plays'));
  commit = await repository.commit({ 'site.yml': '[]' });
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function newGit(publicCaFiles: string[] = []): Promise<{ git: Git; dir: string }> {
  const dir = join(root, `a b%'${count++}`);
  await mkdir(join(dir, 'tmp'), { recursive: true });
  const git = createGit({
    mirrorsDir: join(dir, 'mirrors'),
    tempDir: join(dir, 'tmp'),
    publicCaFiles,
    allowedSchemes: ['file', 'https', 'http', 'ssh'],
    environment: { PATH: process.env.PATH },
  });
  return { git, dir };
}

async function clone(request: Partial<CloneRequest> & { url: string }) {
  const { git, dir } = await newGit();
  const result = await git.clone({ sourceName: 'origin', commit: null, dest: join(dir, 'layer0'), signal, ...request });
  return { ...result, dir };
}

/** Everything that was written below a folder, as one text. */
async function contentsOf(dir: string): Promise<string> {
  const names = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return (await Promise.all(files.map((file) => readFile(file, 'latin1')))).join('\n');
}

describe('over http with a password', () => {
  let server: GitHttpServer;
  let url: string;
  beforeAll(async () => {
    server = await startGitHttpServer({ root: join(root, 'served'), account });
    url = `${server.origin}/plays/.git`;
  });
  afterAll(() => server.stop());

  test('the right one clones, blanks around it do not matter, and it is kept nowhere', async () => {
    const credentials = { username: ` ${account.username}\n`, password: `${account.password}\n` };
    const { commit: cloned, dir } = await clone({ url, credentials });
    expect(cloned).toBe(commit);
    expect(await contentsOf(dir)).not.toContain("hunter'2");
    expect(await readFile(join(dir, 'layer0', '.git', 'config'), 'utf8')).toContain(`url = ${url}\n`);
  });

  test('one in the address works too, and is kept nowhere', async () => {
    const withPassword = url.replace('://', `://${account.username}:${encodeURIComponent(account.password)}@`);
    const { commit: cloned, dir } = await clone({ url: withPassword });
    expect(cloned).toBe(commit);
    expect(await contentsOf(dir)).not.toMatch(/hunter/);
  });

  test('a reference is resolved with it', async () => {
    const { git } = await newGit();
    const request = { url, sourceName: 'origin', credentials: account, signal };
    expect(await git.resolveRef({ ...request, ref: 'main' })).toBe(commit);
    expect(await git.resolveRef({ ...request, ref: commit.slice(0, 9) })).toBe(commit);
  });

  test.each([
    ['a wrong one', { username: 'ada', password: 'not-the-word' }],
    ['none', undefined],
  ])('%s is an error that is not tried again and shows no password', async (_title, credentials) => {
    const error = await clone({ url, credentials }).catch((caught: unknown) => caught);
    expect(isMusterError(error) && error.code).toBe('repository_auth_failed');
    expect(JSON.stringify(error) + String(error)).not.toContain('not-the-word');
  });

  test.each([
    ['the clone', async () => clone({ url, withheld })],
    ['a branch', async () => (await newGit()).git.resolveRef({ url, withheld, sourceName: null, ref: 'main', signal })],
    ['the head', async () => (await newGit()).git.resolveHead({ url, withheld, sourceName: null, signal })],
  ])('credentials that stay here are explained when the server asks for them: %s', async (_title, ask) => {
    const error = await ask().catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: withheld.code, message: expect.stringContaining('name the host') });
  });

  test('credentials that stay here are no word where the server asks for none', async () => {
    const anonymous = await startGitHttpServer({ root: join(root, 'served') });
    expect((await clone({ url: `${anonymous.origin}/plays/.git`, withheld })).commit).toBe(commit);
    await anonymous.stop();
  });

  test('a repository that is not there is named as such', async () => {
    const error = await clone({ url: `${server.origin}/none/.git`, credentials: account }).catch(
      (caught: unknown) => caught,
    );
    expect(isMusterError(error) && error.code).toBe('repository_not_found');
  });

  test('no process shows the password among its arguments while it clones', async () => {
    const slow = await startGitHttpServer({
      root: join(root, 'served'),
      account,
      intercept: (request, response) => {
        if (request.method !== 'POST' || request.headers.authorization === undefined) return false;
        seen.resolve();
        void ended.promise.then(() => response.writeHead(500).end());
        return true;
      },
    });
    const seen = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const cloning = clone({ url: `${slow.origin}/plays/.git`, credentials: account }).catch(
      (caught: unknown) => caught,
    );
    await seen.promise;
    const words = await commandLines();
    ended.resolve();
    await cloning;
    await slow.stop();
    expect(words).toContain(slow.origin);
    expect(words).not.toContain('hunter');
  });

  test('the password goes to no other host, even when the server sends git there', async () => {
    const asked: string[] = [];
    const thief = await startGitHttpServer({
      root: join(root, 'served'),
      intercept: (request, response) => {
        asked.push(request.headers.authorization ?? 'nothing');
        response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
        return true;
      },
    });
    const sender = await startGitHttpServer({
      root: join(root, 'served'),
      intercept: (request, response) => {
        const location = `${thief.origin.replace('127.0.0.1', 'localhost')}${request.url}`;
        response.writeHead(302, { location }).end();
        return true;
      },
    });
    const error = await clone({ url: `${sender.origin}/plays/.git`, credentials: account }).catch(
      (caught: unknown) => caught,
    );
    await Promise.all([thief.stop(), sender.stop()]);
    expect(isMusterError(error) && error.code).toBe('repository_auth_failed');
    expect(asked.length).toBeGreaterThan(0);
    expect(new Set(asked)).toEqual(new Set(['nothing']));
  });
});

describe('a server that hangs', () => {
  let server: GitHttpServer;
  let asked: PromiseWithResolvers<void>;
  beforeAll(async () => {
    server = await startGitHttpServer({
      root,
      intercept: () => {
        asked.resolve();
        return true;
      },
    });
  });
  afterAll(() => server.stop());

  test('is left at once when the clone is aborted, with no git left', async () => {
    asked = Promise.withResolvers();
    const controller = new AbortController();
    const reason = new Error('enough');
    const cloning = clone({ url: `${server.origin}/plays/.git`, signal: controller.signal }).catch(
      (caught: unknown) => caught,
    );
    await asked.promise;
    controller.abort(reason);
    expect(await cloning).toBe(reason);
    await eventually('no git is left', async () => !(await commandLines()).includes(server.origin));
  });

  test('fails a resolution after its time, and that may be tried again', async () => {
    asked = Promise.withResolvers();
    const { git } = await newGit();
    const request = { url: `${server.origin}/plays/.git`, sourceName: null, ref: 'main', signal, timeoutMs: 300 };
    await expect(git.resolveRef(request)).rejects.toMatchObject({
      code: 'clone_failed',
      detail: expect.stringContaining('0.3 s'),
    });
  });
});

describeNeeding(findProgram('openssl') ? null : 'openssl is not installed', 'over https with an own authority', () => {
  let server: GitHttpServer;
  let url: string;
  let ca: string;
  let otherCa: string;
  beforeAll(async () => {
    const certificates = makeCertificates(join(root, 'certificates'));
    ca = await readFile(certificates.caFile, 'utf8');
    otherCa = await readFile(makeCertificates(join(root, 'others')).caFile, 'utf8');
    server = await startGitHttpServer({ root: join(root, 'served'), account, tls: certificates.tls });
    url = `${server.origin}/plays/.git`;
  });
  afterAll(() => server.stop());

  test('it is trusted, and no file of it stays', async () => {
    const { dir, commit: cloned } = await clone({ url, credentials: account, caPem: ca });
    expect(cloned).toBe(commit);
    expect(await readdir(join(dir, 'tmp'))).toEqual([]);
  });

  test('another one leaves the public ones trusted, unless it is to be the only one', async () => {
    const bundle = join(root, 'public.pem');
    // As sites write them: no line at the end.
    await writeFile(bundle, ca.trimEnd());
    const { git } = await newGit([join(root, 'none.pem'), bundle]);
    const request = { url, credentials: account, caPem: otherCa.trimEnd(), sourceName: null, ref: 'main', signal };
    expect(await git.resolveRef(request)).toBe(commit);
    await expect(git.resolveRef({ ...request, caAlone: true })).rejects.toMatchObject({ code: 'repository_untrusted' });
    const { git: without } = await newGit([join(root, 'none.pem')]);
    await expect(without.resolveRef(request)).rejects.toMatchObject({ code: 'repository_untrusted' });
  });

  test('without it the clone fails, and is not tried again', async () => {
    const error = await clone({ url, credentials: account }).catch((caught: unknown) => caught);
    expect(isMusterError(error) && [error.code, error.detail]).toEqual([
      'repository_untrusted',
      expect.stringMatching(/certificate/),
    ]);
  });
});

describeNeeding(sshMissing(), 'over ssh', () => {
  let server: SshServer;
  let url: string;
  beforeAll(async () => {
    server = await startSshServer(join(root, 'sshd'));
    url = `ssh://${server.user}@127.0.0.1:${server.port}${repository.path}`;
  });
  afterAll(() => server.stop());

  const keyFiles = async (): Promise<{ sshKeyFile: string; knownHostsFile: string }> => {
    const dir = join(root, `key's 100% ${count++}`);
    await mkdir(dir, { mode: 0o700 });
    const found = { sshKeyFile: join(dir, 'id key'), knownHostsFile: join(dir, 'known_hosts') };
    await copyFile(server.keyFile, found.sshKeyFile);
    await writeFile(found.knownHostsFile, '');
    return found;
  };

  test('an unknown host is noted at first sight in the file that was given', async () => {
    const access = await keyFiles();
    expect((await clone({ url, ...access })).commit).toBe(commit);
    expect(await readFile(access.knownHostsFile, 'utf8')).toContain(`[127.0.0.1]:${server.port}`);
  });

  test('with strict host keys a known host works and an unknown one does not', async () => {
    const access = { ...(await keyFiles()), hostKeys: 'strict' as const };
    await expect(clone({ url, ...access })).rejects.toMatchObject({ code: 'repository_auth_failed' });
    await writeFile(access.knownHostsFile, server.knownHosts);
    expect((await clone({ url, ...access })).commit).toBe(commit);
  });

  test('a key that the server does not know is an error that is not tried again', async () => {
    const access = await keyFiles();
    await rm(access.sshKeyFile);
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', access.sshKeyFile]);
    const error = await clone({ url, ...access }).catch((caught: unknown) => caught);
    expect(isMusterError(error) && error.code).toBe('repository_auth_failed');
    expect(isMusterError(error) && error.detail).toContain('Permission denied');
  });

  test('a repository that is not there is named as such', async () => {
    await expect(clone({ url: `${url}-none`, ...(await keyFiles()) })).rejects.toMatchObject({
      code: 'repository_not_found',
    });
  });
});

test('every word for ssh is quoted for the shell', () => {
  const command = sshCommand({ sshKeyFile: "/k/it's $(touch x)", knownHostsFile: '/k/100% sure' });
  const words = execFileSync('sh', ['-c', `printf '%s\\n' ${command}`], { encoding: 'utf8' }).split('\n');
  expect(words).toContain('IdentityFile="/k/it\'s $(touch x)"');
  expect(words).toContain('UserKnownHostsFile="/k/100%% sure"');
});

test('the helper that answers git is a program', async () => {
  expect((await stat(join(import.meta.dirname, '../../../drivers/git/askpass'))).mode & 0o111).toBe(0o111);
});

async function commandLines(): Promise<string> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return (await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))).join('\n');
}
