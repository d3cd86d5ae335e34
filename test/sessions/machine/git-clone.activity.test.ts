import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createGit, type Git } from '../../../drivers/git/create-git.ts';
import { lockMirror } from '../../../drivers/git/mirror-lock.ts';
import { mirrorName } from '../../../drivers/git/mirrors.ts';
import { createRepository, type TestRepository } from '../../support/git/git-repository.ts';
import { describeNeeding } from '../../support/requirement.ts';

let root: string;
let count = 0;
const signal = new AbortController().signal;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'muster-git-clone-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

interface Setting {
  dir: string;
  git: Git;
  repository: TestRepository;
  mirror: string;
  logged: string[];
}

async function setting(): Promise<Setting> {
  const dir = join(root, String(count++));
  await mkdir(join(dir, 'tmp'), { recursive: true });
  const repository = await createRepository(join(dir, 'origin'));
  const logged: string[] = [];
  const git = createGit({
    mirrorsDir: join(dir, 'mirrors'),
    tempDir: join(dir, 'tmp'),
    allowedSchemes: ['file', 'https', 'ssh'],
    log: (message) => logged.push(message),
  });
  const mirror = join(dir, 'mirrors', `${mirrorName({ url: repository.path, sourceName: null })}.git`);
  return { dir, git, repository, mirror, logged };
}

const clone = (given: Setting, commit: string | null, name = 'layer0', abort = signal) =>
  given.git.clone({ url: given.repository.path, sourceName: null, commit, dest: join(given.dir, name), signal: abort });
const gitIn = (dir: string, ...args: string[]): string =>
  execFileSync('git', ['-C', dir, ...args], { encoding: 'utf8' }).trim();

describe('a clone', () => {
  test('is full, detached at the commit, with its own address as origin and no alternates', async () => {
    const given = await setting();
    const first = await given.repository.commit({ 'site.yml': '1' });
    const second = await given.repository.commit({ 'site.yml': '2' });
    await given.repository.git('branch', 'other', first);
    expect(await clone(given, first)).toEqual({ commit: first, warnings: [], removedLinks: [] });
    const dest = join(given.dir, 'layer0');
    expect(await readFile(join(dest, '.git', 'HEAD'), 'utf8')).toBe(`${first}\n`);
    expect(await readFile(join(dest, 'site.yml'), 'utf8')).toBe('1');
    expect(gitIn(dest, 'config', 'remote.origin.url')).toBe(`file://${encodeURI(given.repository.path)}`);
    expect(gitIn(dest, 'rev-parse', 'origin/main', 'origin/other')).toBe(`${second}\n${first}`);
    expect(existsSync(join(dest, '.git', 'objects', 'info', 'alternates'))).toBe(false);
    await rm(join(given.dir, 'mirrors'), { recursive: true });
    expect(gitIn(dest, 'fsck', '--full')).not.toContain('missing');
  });

  test('without a commit is what the default branch names now, and detached too', async () => {
    const given = await setting();
    await given.repository.commit({ a: '1' });
    await clone(given, null, 'old');
    const newer = await given.repository.commit({ a: '2' });
    expect((await clone(given, null)).commit).toBe(newer);
    expect(await readFile(join(given.dir, 'layer0', '.git', 'HEAD'), 'utf8')).toBe(`${newer}\n`);
  });

  test('asks the remote for nothing when the mirror has the commit', async () => {
    const given = await setting();
    const commit = await given.repository.commit({ a: '1' });
    await clone(given, commit, 'first');
    await rm(given.repository.path, { recursive: true });
    expect((await clone(given, commit, 'second')).commit).toBe(commit);
  });

  test('finds a commit that no branch reaches any more', async () => {
    const given = await setting();
    await given.repository.commit({ a: '1' });
    const lost = await given.repository.commit({ a: '2' });
    await given.repository.git('reset', '--quiet', '--hard', 'HEAD~1');
    await clone(given, null, 'first');
    expect((await clone(given, lost)).commit).toBe(lost);
  });

  test('replaces what an earlier try left at its place', async () => {
    const given = await setting();
    const commit = await given.repository.commit({ a: '1' });
    await mkdir(join(given.dir, 'layer0'));
    await mkdir(join(given.dir, 'layer0.part-dead'));
    await writeFile(join(given.dir, 'layer0', 'stale'), 'x');
    await clone(given, commit);
    expect(await readdir(join(given.dir, 'layer0'))).toEqual(['.git', 'a']);
    expect((await readdir(given.dir)).filter((name) => name.includes('.part-'))).toEqual([]);
  });

  test.each([
    ['0'.repeat(40), 'commit_not_found'],
    ['abcdef1', 'commit_not_found'],
    ['--help', 'commit_not_found'],
  ])('of commit %s fails with %s', async (commit, code) => {
    const given = await setting();
    await given.repository.commit({ a: '1' });
    await expect(clone(given, commit)).rejects.toMatchObject({ code });
    expect(existsSync(join(given.dir, 'layer0'))).toBe(false);
  });

  test('of an empty repository and of none fails with what is missing', async () => {
    const given = await setting();
    await expect(clone(given, null)).rejects.toMatchObject({ code: 'commit_not_found' });
    await rm(given.repository.path, { recursive: true });
    await expect(clone(given, null)).rejects.toMatchObject({ code: 'repository_not_found' });
  });
});

describeNeeding(
  process.getuid?.() === 0 ? null : 'only root can give a repository to another user',
  'a repository of another owner',
  () => {
    test('is cloned all the same', async () => {
      const given = await setting();
      const commit = await given.repository.commit({ a: '1' });
      for (const name of ['', '.git']) await chown(join(given.repository.path, name), 65534, 65534);
      expect((await clone(given, commit)).commit).toBe(commit);
    });
  },
);

describe('a hostile repository', () => {
  test('runs no filter, hook or submodule of its own', async () => {
    const given = await setting();
    const commit = await given.repository.commit({
      '.gitattributes': '* filter=evil diff=evil merge=evil\n',
      '.gitmodules': `[submodule "x"]\n\tpath = x\n\turl = ext::touch ${given.dir}/ran\n`,
      'hooks/post-checkout': `#!/bin/sh\ntouch ${given.dir}/ran\n`,
      '.gitconfig': `[filter "evil"]\n\tsmudge = touch ${given.dir}/ran\n`,
      a: 'text',
    });
    await clone(given, commit);
    expect(existsSync(join(given.dir, 'ran'))).toBe(false);
    expect(await readFile(join(given.dir, 'layer0', 'a'), 'utf8')).toBe('text');
  });

  test('loses the links that lead out and keeps those that stay inside', async () => {
    const given = await setting();
    const commit = await given.repository.commit(
      { 'roles/web/tasks/main.yml': '[]', 'group_vars/all.yml': 'a: 1' },
      {
        'abs.yml': '/etc/passwd',
        'up.yml': '../../../etc/passwd',
        'roles/there-and-back': '../../layer0/group_vars',
        'roles/inside': '../group_vars/all.yml',
        'roles/up-dir': '..',
        'through.yml': 'roles/up-dir/../../x',
        'over.yml': 'abs.yml',
        'dir-out': '/etc',
        'below-out.yml': 'dir-out/passwd',
        'into-git': '.git/config',
        dangling: 'roles/missing.yml',
        'round-1': 'round-2',
        'round-2': 'round-1',
        'dot/./x': './../group_vars/../group_vars',
      },
    );
    const { warnings } = await clone(given, commit);
    const removed = [
      'abs.yml',
      'below-out.yml',
      'dir-out',
      'into-git',
      'over.yml',
      'roles/there-and-back',
      'round-1',
      'round-2',
      'through.yml',
      'up.yml',
    ];
    expect(warnings).toEqual(
      removed.map((path) => `Symbolic link '${path}' leads out of the repository and was removed.`),
    );
    const left = gitIn(join(given.dir, 'layer0'), 'ls-files', '--deleted').split('\n');
    expect(left.sort()).toEqual(removed);
  });

  test('with a path into .git is refused', async () => {
    const given = await setting();
    await given.repository.commit({ a: '1' });
    const blob = await given.repository.git('hash-object', '-w', 'a');
    const inner = execFileSync('git', ['-C', given.repository.path, 'mktree'], {
      input: `100644 blob ${blob}\tconfig\n`,
      encoding: 'utf8',
    }).trim();
    const tree = execFileSync('git', ['-C', given.repository.path, 'mktree'], {
      input: `040000 tree ${inner}\t.git\n`,
      encoding: 'utf8',
    }).trim();
    const commit = await given.repository.git('commit-tree', '-m', 'evil', tree);
    await given.repository.git('branch', 'evil', commit);
    await expect(clone(given, commit)).rejects.toMatchObject({ code: 'repository_unsafe' });
  });

  test.each(['ext::sh -c "touch ran"', 'ext::sh', '--upload-pack=touch', '-oProxyCommand=touch', 'relative/path'])(
    'address %s never reaches git',
    async (url) => {
      const given = await setting();
      const request = { url, sourceName: null, commit: null, dest: join(given.dir, 'layer0'), signal };
      await expect(given.git.clone(request)).rejects.toMatchObject({ code: 'repository_url_refused' });
      expect(existsSync(join(given.dir, 'mirrors'))).toBe(false);
    },
  );
});

describe('the mirror', () => {
  test('serves 20 clones at once, made by one fetch', async () => {
    const given = await setting();
    const commit = await given.repository.commit({ a: '1' });
    const names = Array.from({ length: 20 }, (_, index) => `layer${index}`);
    const results = await Promise.all(names.map((name) => clone(given, commit, name)));
    expect(results.map((result) => result.commit)).toEqual(names.map(() => commit));
    for (const name of names) expect(await readFile(join(given.dir, name, 'a'), 'utf8')).toBe('1');
    expect(await readdir(join(given.dir, 'mirrors'))).toEqual([given.mirror.split('/').at(-1)]);
  });

  test('follows a remote whose branches were replaced and renamed', async () => {
    const given = await setting();
    await given.repository.commit({ a: '1' });
    await given.repository.git('branch', 'topic');
    await clone(given, null, 'first');
    await given.repository.git('branch', '-D', 'topic');
    await given.repository.git('commit', '--quiet', '--amend', '--message', 'other');
    const other = await given.repository.commit({ a: '2' });
    await given.repository.git('branch', 'topic/one');
    expect((await clone(given, other)).commit).toBe(other);
  });

  const breakages: [string, (mirror: string) => Promise<void>][] = [
    ['a pack is cut short', async (mirror) => truncate(await packOf(mirror), 40)],
    ['a pack is overwritten', async (mirror) => writeFile(await packOf(mirror), Buffer.alloc(300, 7))],
    ['its objects are gone', (mirror) => rm(join(mirror, 'objects', 'pack'), { recursive: true })],
    ['HEAD is gone', (mirror) => rm(join(mirror, 'HEAD'))],
    ['its configuration is rubbish', (mirror) => writeFile(join(mirror, 'config'), '[[[')],
    [
      'it is an empty folder',
      async (mirror) => {
        await rm(mirror, { recursive: true });
        await mkdir(mirror);
      },
    ],
    [
      'it is a file',
      async (mirror) => {
        await rm(mirror, { recursive: true });
        await writeFile(mirror, 'x');
      },
    ],
    [
      'a killed git left locks and half packs',
      async (mirror) => {
        await mkdir(join(mirror, 'refs', 'heads'), { recursive: true });
        for (const name of [
          'packed-refs.lock',
          'config.lock',
          'HEAD.lock',
          'refs/heads/main.lock',
          'objects/pack/tmp_pack_x',
        ]) {
          await writeFile(join(mirror, name), 'half');
        }
      },
    ],
  ];
  test.each(breakages)('is made anew or mended when %s', async (_title, damage) => {
    const given = await setting();
    const commit = await given.repository.commit({ a: '1' });
    await clone(given, commit, 'first');
    await damage(given.mirror);
    expect((await clone(given, commit, 'same')).commit).toBe(commit);
    await damage(given.mirror);
    const newer = await given.repository.commit({ a: '2' });
    expect((await clone(given, newer, 'newer')).commit).toBe(newer);
    expect(gitIn(given.mirror, 'fsck', '--full')).not.toMatch(/missing|corrupt/);
  });

  test('loses the locks that keep git from packing it again', async () => {
    const given = await setting();
    const commit = await given.repository.commit({ a: '1' });
    await clone(given, commit, 'first');
    const locks = ['objects/maintenance.lock', 'objects/info/commit-graphs/commit-graph-chain.lock'];
    await mkdir(join(given.mirror, 'objects/info/commit-graphs'), { recursive: true });
    for (const name of locks) await writeFile(join(given.mirror, name), '');
    await clone(given, await given.repository.commit({ a: '2' }), 'newer');
    expect(locks.filter((name) => existsSync(join(given.mirror, name)))).toEqual([]);
  });

  test('is removed after the time without use, but not while somebody uses it', async () => {
    const given = await setting();
    const commit = await given.repository.commit({ a: '1' });
    await clone(given, commit);
    expect(await given.git.pruneMirrors({ unusedForMs: 60_000 })).toBe(0);
    const old = new Date(Date.now() - 120_000);
    await utimes(join(given.mirror, 'muster-used'), old, old);
    const lock = await lockMirror(given.mirror.replace(/git$/, 'lock'), { signal, wait: true });
    expect(await given.git.pruneMirrors({ unusedForMs: 60_000 })).toBe(0);
    await lock?.release();
    const [again] = await Promise.all([clone(given, commit, 'again'), given.git.pruneMirrors({ unusedForMs: 60_000 })]);
    expect(again.commit).toBe(commit);
    await utimes(join(given.mirror, 'muster-used'), old, old);
    expect(await given.git.pruneMirrors({ unusedForMs: 60_000 })).toBe(1);
    expect(await readdir(join(given.dir, 'mirrors'))).toEqual([]);
    expect((await clone(given, commit, 'after')).commit).toBe(commit);
  });

  test('is private to the user', async () => {
    const given = await setting();
    await given.repository.commit({ a: '1' });
    await clone(given, null);
    expect((await stat(join(given.dir, 'mirrors'))).mode & 0o077).toBe(0);
  });
});

describe('a reference', () => {
  test('is the branch, the peeled tag or the commit it names, in this order', async () => {
    const given = await setting();
    const first = await given.repository.commit({ a: '1' });
    const second = await given.repository.commit({ a: '2' });
    await given.repository.git('tag', '-a', '-m', 'one', 'v1', first);
    await given.repository.git('tag', 'both', first);
    await given.repository.git('branch', 'both', second);
    await given.repository.git('branch', 'a/refs/heads/main', first);
    const resolve = (ref: string): Promise<string> =>
      given.git.resolveRef({ url: given.repository.path, sourceName: null, ref, signal });
    expect(await resolve('main')).toBe(second);
    expect(await resolve('v1')).toBe(first);
    expect(await resolve('both')).toBe(second);
    expect(await resolve(first)).toBe(first);
    expect(await resolve(first.slice(0, 7))).toBe(first);
    expect(await resolve(first.slice(0, 12).toUpperCase())).toBe(first);
    for (const ref of [
      'none',
      '-x',
      '--upload-pack=touch x',
      'a..b',
      '0000000',
      '0'.repeat(40),
      'main^',
      'refs/heads/main',
    ]) {
      await expect(resolve(ref)).rejects.toMatchObject({ code: 'branch_not_found', field: 'branch' });
    }
  });

  test('that begins several commit ids is not taken', async () => {
    const given = await setting();
    await given.repository.commit({ a: '1' });
    const { texts, prefix } = twoCommitsOfOnePrefix(await given.repository.git('rev-parse', 'HEAD^{tree}'));
    for (const [index, text] of texts.entries()) {
      const input = ['-C', given.repository.path, 'hash-object', '-t', 'commit', '-w', '--stdin'];
      const id = execFileSync('git', input, { input: text, encoding: 'utf8' }).trim();
      expect(id.startsWith(prefix)).toBe(true);
      await given.repository.git('branch', `twin-${index}`, id);
    }
    const request = { url: given.repository.path, sourceName: null, ref: prefix, signal };
    await expect(given.git.resolveRef(request)).rejects.toMatchObject({ code: 'branch_not_found' });
  });
});

describe('an abort', () => {
  test('before the start runs no git at all', async () => {
    const given = await setting();
    const reason = new Error('enough');
    await expect(clone(given, null, 'layer0', AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(existsSync(given.mirror)).toBe(false);
  });

  test('of one that waits for the mirror leaves the others alone', async () => {
    const given = await setting();
    const commit = await given.repository.commit({ a: '1' });
    const controller = new AbortController();
    const first = clone(given, commit, 'first');
    const second = clone(given, commit, 'second', controller.signal);
    const third = clone(given, commit, 'third');
    controller.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    expect((await first).commit).toBe(commit);
    expect((await third).commit).toBe(commit);
  });
});

async function packOf(mirror: string): Promise<string> {
  const dir = join(mirror, 'objects', 'pack');
  const pack = (await readdir(dir)).find((name) => name.endsWith('.pack'));
  if (pack === undefined) throw new Error('no pack');
  execFile('chmod', ['u+w', join(dir, pack)]);
  return join(dir, pack);
}

/** Two commits of `tree` whose ids have the first seven digits in common; about 20,000 tries. */
function twoCommitsOfOnePrefix(tree: string): { texts: [string, string]; prefix: string } {
  const seen = new Map<string, string>();
  for (let second = 1_700_000_000; ; second += 1) {
    const who = `T <t@example.com> ${second} +0000`;
    const text = `tree ${tree}\nauthor ${who}\ncommitter ${who}\n\ntwin\n`;
    const prefix = createHash('sha1').update(`commit ${text.length}\0${text}`).digest('hex').slice(0, 7);
    const twin = seen.get(prefix);
    if (twin !== undefined) return { texts: [twin, text], prefix };
    seen.set(prefix, text);
  }
}
