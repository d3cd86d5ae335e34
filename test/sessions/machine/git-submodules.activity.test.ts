import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createGit } from '../../../drivers/git/create-git.ts';
import type { GitAccess } from '../../../drivers/git/git-access.ts';
import { type GitHttpServer, startGitHttpServer } from '../../support/git/git-http-server.ts';
import { createRepository, type TestRepository } from '../../support/git/git-repository.ts';

const signal = new AbortController().signal;
const account = { username: 'ada', password: 'hunter-2' };
let root: string;
let served: string;
let count = 0;
let plays: TestRepository;
let shared: TestRepository;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'muster-git-sub-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));
beforeEach(async () => {
  served = join(root, `served${count++}`);
  plays = await createRepository(join(served, 'plays'));
  shared = await createRepository(join(served, 'shared'));
  await plays.commit({ 'site.yml': '[]' });
  await shared.commit({ 'tasks/main.yml': 'shared' });
});

const git = (dir: string, ...args: string[]) =>
  execFileSync('git', ['-C', dir, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { encoding: 'utf8' }).trim();
const head = (repository: TestRepository) => git(repository.path, 'rev-parse', 'HEAD');

/** Records a submodule as another git would have it: at that commit, with these lines of `.gitmodules`. */
function addSubmodule(repository: TestRepository, path: string, url: string, commit: string, more = ''): void {
  const file = join(repository.path, '.gitmodules');
  const before = existsSync(file) ? execFileSync('cat', [file], { encoding: 'utf8' }) : '';
  execFileSync('tee', [file], {
    input: `${before}[submodule "${path}"]\n\tpath = ${path}\n\turl = ${url}\n${more}`,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  git(repository.path, 'add', '.gitmodules');
  git(repository.path, 'update-index', '--add', '--cacheinfo', `160000,${commit},${path}`);
  git(repository.path, 'commit', '-q', '-m', 'submodule');
}

async function clone(url = plays.url, more: { accessOf?: (url: string) => Promise<GitAccess> } & GitAccess = {}) {
  const dir = join(root, `work${count++}`);
  await mkdir(join(dir, 'tmp'), { recursive: true });
  const driver = createGit({
    mirrorsDir: join(dir, 'mirrors'),
    tempDir: join(dir, 'tmp'),
    allowedSchemes: ['file', 'http', 'https'],
    environment: { PATH: process.env.PATH },
  });
  const dest = join(dir, 'layer0');
  const ask = () => driver.clone({ url, sourceName: null, commit: null, dest, signal, ...more });
  return { ...(await ask()), dest, dir, ask };
}

const text = (dest: string, path: string) => readFile(join(dest, path), 'utf8');

describe('a submodule', () => {
  test('is there at its recorded commit, also later ones of its branch aside, and again from the mirrors', async () => {
    addSubmodule(plays, 'roles/shared', '../shared', head(shared));
    await shared.commit({ 'tasks/main.yml': 'later' });
    const { dest, ask, dir } = await clone();
    expect(await text(dest, 'roles/shared/tasks/main.yml')).toBe('shared');
    await rm(served, { recursive: true });
    await rm(dest, { recursive: true });
    // The default branch is asked for anew; a commit that is here already is not.
    await expect(ask()).rejects.toThrow();
    expect(await readdir(join(dir, 'mirrors'))).toHaveLength(2);
  });

  test('may have submodules of its own, with addresses beside its own', async () => {
    const inner = await createRepository(join(served, 'deep', 'inner'));
    await inner.commit({ 'file.txt': 'inner' });
    addSubmodule(shared, 'nested dir/inner', '../deep/inner', head(inner));
    addSubmodule(plays, 'roles/shared', shared.url, head(shared));
    const { dest } = await clone();
    expect(await text(dest, 'roles/shared/nested dir/inner/file.txt')).toBe('inner');
    expect(git(join(dest, 'roles/shared/nested dir/inner'), 'rev-parse', 'HEAD')).toBe(head(inner));
  });

  test.each([
    [
      'a commit that is gone',
      () => addSubmodule(plays, 'roles/x', '../shared', 'd'.repeat(40)),
      'commit_not_found',
      'shared',
    ],
    [
      'an address that is not there',
      () => addSubmodule(plays, 'roles/x', '../none', 'd'.repeat(40)),
      'repository_not_found',
      'none',
    ],
    [
      'a transport helper',
      () => addSubmodule(plays, 'roles/x', 'ext::sh', 'd'.repeat(40)),
      'repository_url_refused',
      'helpers',
    ],
    [
      'a scheme that is not allowed',
      () => addSubmodule(plays, 'roles/x', 'ssh://git.test/x', 'd'.repeat(40)),
      'repository_url_refused',
      'ssh',
    ],
    [
      'an option for an address',
      () => addSubmodule(plays, 'roles/x', '--upload-pack=x', 'd'.repeat(40)),
      'repository_url_refused',
      'hyphen',
    ],
  ])('with %s fails the clone by path and address', async (_title, add, code, words) => {
    add();
    await expect(clone()).rejects.toMatchObject({
      code,
      message: expect.stringMatching(new RegExp(`^submodule roles/x: .*${words}`)),
    });
  });

  test('that .gitmodules does not name fails the clone', async () => {
    git(plays.path, 'update-index', '--add', '--cacheinfo', `160000,${'d'.repeat(40)},roles/x`);
    git(plays.path, 'commit', '-q', '-m', 'gitlink');
    await expect(clone()).rejects.toMatchObject({
      code: 'submodule_unknown',
      message: expect.stringContaining('roles/x'),
    });
  });

  test('runs no command of .gitmodules, and its links lead neither out nor into a .git', async () => {
    const mark = join(root, 'ran');
    const { symlink } = await import('node:fs/promises');
    await symlink('../../../../etc/passwd', join(shared.path, 'out'));
    await symlink('.git/config', join(shared.path, 'config'));
    await symlink('../../site.yml', join(shared.path, 'inside'));
    await shared.commit({ more: '' });
    await symlink('roles/shared/.git/config', join(plays.path, 'theirs'));
    await plays.commit({ more: '' });
    addSubmodule(plays, 'roles/shared', '../shared', head(shared), `\tupdate = !touch ${mark}\n`);
    const { dest, warnings } = await clone();
    expect(existsSync(mark)).toBe(false);
    expect(warnings.map((warning) => /'(.*)'/.exec(warning)?.[1])).toEqual([
      'roles/shared/config',
      'roles/shared/out',
      'theirs',
    ]);
    expect(await text(dest, 'roles/shared/inside')).toBe('[]');
  });

  test('on another host gets the credentials of that host alone, and is explained when it gets none', async () => {
    const headers: string[] = [];
    const other = await startGitHttpServer({
      root: served,
      account,
      intercept: (request) => {
        headers.push(request.headers.authorization ?? 'none');
        return false;
      },
    });
    const own = await startGitHttpServer({ root: served, account: { username: 'own', password: 'own-word' } });
    const address = `${other.origin}/shared/.git`;
    addSubmodule(plays, 'roles/shared', address, head(shared));
    const url = `${own.origin}/plays/.git`;
    const credentials = { username: 'own', password: 'own-word' };
    const withheld = { code: 'credentials_withheld', detail: 'name the host' } as const;
    const asked: string[] = [];
    const refused = clone(url, {
      credentials,
      accessOf: async (one) => {
        asked.push(one);
        return { withheld };
      },
    });
    await expect(refused).rejects.toMatchObject({
      code: 'credentials_withheld',
      message: expect.stringMatching(/^submodule roles\/shared: .*name the host/),
    });
    expect([asked, [...new Set(headers)]]).toEqual([[address], ['none']]);
    const { dest } = await clone(url, { credentials, accessOf: async () => ({ credentials: account }) });
    expect(await text(dest, 'roles/shared/tasks/main.yml')).toBe('shared');
    expect(headers.join()).not.toContain(Buffer.from('own:own-word').toString('base64'));
    await Promise.all([own.stop(), other.stop()]);
  });
});

describe('content that git-lfs keeps', () => {
  const content = 'the real archive\n';
  const oid = execFileSync('sha256sum', { input: content, encoding: 'utf8' }).slice(0, 64);
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${content.length}\n`;
  let server: GitHttpServer;
  let asked: string[];
  let hasObject: boolean;

  beforeEach(async () => {
    asked = [];
    hasObject = true;
    server = await startGitHttpServer({
      root: served,
      account,
      intercept: (request, response) => {
        const { url = '', headers } = request;
        if (!url.includes('/objects/batch') && !url.startsWith('/content/')) return false;
        asked.push(`${url} ${headers.authorization === undefined ? 'anonymous' : 'with credentials'}`);
        if (headers.authorization === undefined) {
          response.writeHead(401, { 'www-authenticate': 'Basic realm="lfs"' }).end();
          return true;
        }
        if (url.startsWith('/content/')) {
          response.writeHead(200).end(content);
          return true;
        }
        const href = `${server.origin}/content/${oid}`;
        const object = hasObject
          ? { actions: { download: { href } } }
          : { error: { code: 404, message: 'Object does not exist' } };
        response.setHeader('content-type', 'application/vnd.git-lfs+json');
        response.end(JSON.stringify({ transfer: 'basic', objects: [{ oid, size: content.length, ...object }] }));
        return true;
      },
    });
    await plays.commit({ '.gitattributes': '*.gz filter=lfs diff=lfs merge=lfs -text\n', 'files/app.tar.gz': pointer });
  });
  afterEach(() => server.stop());
  const url = () => `${server.origin}/plays/.git`;

  test('is in the place of the pointer, fetched with the credentials, and kept for the next clone', async () => {
    const { dest, ask, dir } = await clone(url(), { credentials: account });
    expect(await text(dest, 'files/app.tar.gz')).toBe(content);
    const before = asked.length;
    expect(before).toBeGreaterThan(0);
    await ask();
    expect(await text(dest, 'files/app.tar.gz')).toBe(content);
    expect(asked.filter((one) => one.startsWith('/content/')).length).toBeLessThanOrEqual(2);
    const config = await text(dest, '.git/config');
    expect(config + (await readdir(dir)).join()).not.toContain('hunter');
  });

  test('of a submodule is there too', async () => {
    await shared.commit({ '.gitattributes': '*.gz filter=lfs\n', 'app.gz': pointer });
    await plays.commit({ 'files/app.tar.gz': 'plain' });
    addSubmodule(plays, 'roles/shared', `${server.origin}/shared/.git`, head(shared));
    const { dest } = await clone(url(), { credentials: account, accessOf: async () => ({ credentials: account }) });
    expect(await text(dest, 'roles/shared/app.gz')).toBe(content);
  });

  test('that the server lacks fails the clone and names the first file', async () => {
    hasObject = false;
    await expect(clone(url(), { credentials: account })).rejects.toMatchObject({
      code: 'lfs_object_missing',
      message: expect.stringContaining('files/app.tar.gz'),
    });
  });

  test('behind a file:// address without objects fails the clone', async () => {
    await expect(clone()).rejects.toMatchObject({
      code: 'lfs_object_missing',
      message: expect.stringContaining('files/app.tar.gz'),
    });
  });

  test('goes to no server of .lfsconfig with credentials of another, and its scheme must be allowed', async () => {
    const headers: string[] = [];
    const thief = await startGitHttpServer({
      root: served,
      intercept: (request, response) => {
        headers.push(request.headers.authorization ?? 'none');
        response.writeHead(401, { 'www-authenticate': 'Basic realm="lfs"' }).end();
        return true;
      },
    });
    const { host } = new URL(server.origin);
    await plays.commit({ '.lfsconfig': `[lfs]\n\turl = ${thief.origin}/x@${host}/info/lfs\n\tfetchexclude = *\n` });
    await expect(clone(url(), { credentials: account })).rejects.toMatchObject({ code: 'repository_auth_failed' });
    expect([...new Set(headers)]).toEqual(['none']);
    await plays.commit({ '.lfsconfig': '[lfs]\n\turl = ssh://git.test/x\n' });
    await expect(clone(url(), { credentials: account })).rejects.toMatchObject({ code: 'repository_url_refused' });
    await thief.stop();
  });

  test('fails the clone by name where git-lfs is not installed', async () => {
    const dir = join(root, `bare${count++}`);
    await mkdir(join(dir, 'bin'), { recursive: true });
    await mkdir(join(dir, 'tmp'));
    // A git without the commands that packages bring along.
    const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
    const script = `#!/bin/sh\nfor word; do case "$word" in lfs) echo "git: 'lfs' is not a git command." >&2; exit 1 ;; esac; done\nexec ${real} "$@"\n`;
    await writeFile(join(dir, 'bin', 'git'), script, { mode: 0o755 });
    const driver = createGit({
      mirrorsDir: join(dir, 'mirrors'),
      tempDir: join(dir, 'tmp'),
      allowedSchemes: ['file'],
      environment: { PATH: `${join(dir, 'bin')}:${process.env.PATH}` },
    });
    const request = { url: plays.url, sourceName: null, commit: null, dest: join(dir, 'layer0'), signal };
    await expect(driver.clone(request)).rejects.toMatchObject({
      code: 'lfs_unavailable',
      message: expect.stringMatching(/files\/app\.tar\.gz.*git-lfs/),
    });
    expect(existsSync(join(dir, 'layer0'))).toBe(false);
  });
});
