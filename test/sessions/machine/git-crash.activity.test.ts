import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createGit, type Git } from '../../../drivers/git/create-git.ts';
import { lockMirror } from '../../../drivers/git/mirror-lock.ts';
import { signal as kill } from '../../../drivers/machine/process-table.ts';
import { type GitHttpServer, startGitHttpServer } from '../../support/git/git-http-server.ts';
import { createRepository, type TestRepository } from '../../support/git/git-repository.ts';

const signal = new AbortController().signal;
const DRIVER = join(import.meta.dirname, '../../../drivers/git/create-git.ts');
let root: string;
let repository: TestRepository;
let server: GitHttpServer;
let url: string;
let newest: string;
/** While set, the server takes in fetches and does not answer; it resolves when one came. */
let hang: PromiseWithResolvers<void> | null = null;
let count = 0;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'muster-git-crash-'));
  repository = await createRepository(join(root, 'served', 'plays'));
  for (let round = 0; round < 5; round += 1) {
    const files = Array.from({ length: 200 }, (_, index) => [
      `roles/r${index}/main.yml`,
      `${round} ${index}\n`.repeat(50),
    ]);
    newest = await repository.commit(Object.fromEntries(files));
  }
  server = await startGitHttpServer({
    root: join(root, 'served'),
    intercept: (request) => {
      if (request.method !== 'POST' || hang === null) return false;
      hang.resolve();
      return true;
    },
  });
  url = `${server.origin}/plays/.git`;
});
afterAll(async () => {
  await server.stop();
  await rm(root, { recursive: true, force: true });
});

async function place(): Promise<{ dir: string; git: Git }> {
  const dir = join(root, String(count++));
  await mkdir(join(dir, 'tmp'), { recursive: true });
  const options = { mirrorsDir: join(dir, 'mirrors'), tempDir: join(dir, 'tmp'), allowedSchemes: ['http'] };
  return { dir, git: createGit(options) };
}

/** Of the newest commit by its id, so that the first thing asked of the remote is the fetch into the mirror. */
const request = (dir: string, name: string) => ({
  url,
  sourceName: null,
  commit: newest,
  dest: join(dir, name),
  signal,
});

/** A Muster process of its own that clones once into `name` and says `done`. */
function cloneInProcess(dir: string, name: string): ChildProcess {
  const options = { mirrorsDir: join(dir, 'mirrors'), tempDir: join(dir, 'tmp'), allowedSchemes: ['http'] };
  const { signal: _signal, ...rest } = request(dir, name);
  const program = `
    import { createGit } from ${JSON.stringify(DRIVER)};
    const git = createGit(${JSON.stringify(options)});
    await git.clone({ ...${JSON.stringify(rest)}, signal: new AbortController().signal });
    console.log('done');`;
  return spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 'inherit'] });
}

test('a git that is killed in the middle of a fetch fails the clone, and the next one works', async () => {
  const { dir, git } = await place();
  hang = Promise.withResolvers();
  const cloning = git.clone(request(dir, 'first')).catch((error: unknown) => error);
  await hang.promise;
  hang = null;
  for (const pid of await gitsOf(dir)) kill(pid, 'SIGKILL');
  expect(await cloning).toMatchObject({ code: 'clone_failed' });
  const { commit } = await git.clone(request(dir, 'second'));
  expect(await readFile(join(dir, 'second', '.git', 'HEAD'), 'utf8')).toBe(`${commit}\n`);
});

test('a killed Muster process leaves no git and no lock that the next one does not clear', async () => {
  const { dir, git } = await place();
  hang = Promise.withResolvers();
  const child = cloneInProcess(dir, 'first');
  await hang.promise;
  hang = null;
  child.kill('SIGKILL');
  await once(child, 'exit');
  const orphans = await gitsOf(dir);
  expect(orphans.length).toBeGreaterThan(0);
  await git.clone(request(dir, 'second'));
  expect(await gitsOf(dir)).toEqual([]);
  expect((await readdir(join(dir, 'mirrors'))).filter((name) => !/^[0-9a-f]{64}\.git$/.test(name))).toEqual([]);
});

test('processes killed at any moment never spoil the mirror', async () => {
  const { dir, git } = await place();
  for (let round = 0; round < 8; round += 1) {
    if (round % 3 === 0) await rm(join(dir, 'mirrors'), { recursive: true, force: true });
    else newest = await repository.commit({ [`new-${round}`]: 'x' });
    const child = cloneInProcess(dir, `killed${round}`);
    const ended = once(child, 'exit');
    await until(async () => child.exitCode !== null || (await gitsOf(dir)).length > 0);
    await sleep(round * 12);
    child.kill('SIGKILL');
    await ended;
    const { commit } = await git.clone(request(dir, `after${round}`));
    expect(commit).toBe(newest);
    expect(await repositoryIsWhole(join(dir, `after${round}`))).toBe(true);
  }
});

test('processes that clone at once share one mirror', async () => {
  const { dir } = await place();
  const children = Array.from({ length: 4 }, (_, index) => cloneInProcess(dir, `layer${index}`));
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]));
  expect(codes).toEqual([0, 0, 0, 0]);
  expect((await readdir(join(dir, 'mirrors'))).length).toBe(1);
});

describe('the lock', () => {
  test('is held by one at a time, in any order of coming and going', async () => {
    const dir = join(root, 'lock-order');
    let inside = 0;
    let most = 0;
    let served = 0;
    const visit = async (): Promise<void> => {
      const lock = await lockMirror(dir, { signal, wait: true });
      inside += 1;
      most = Math.max(most, inside);
      await sleep(1);
      inside -= 1;
      served += 1;
      await lock?.release();
    };
    await Promise.all(Array.from({ length: 30 }, visit));
    expect({ most, served }).toEqual({ most: 1, served: 30 });
  });

  test('is not waited for when told so, and an abort ends the wait and leaves nothing behind', async () => {
    const dir = join(root, 'lock-wait');
    const lock = await lockMirror(dir, { signal, wait: true });
    expect(await lockMirror(dir, { signal, wait: false })).toBeNull();
    const controller = new AbortController();
    const waiting = lockMirror(dir, { signal: controller.signal, wait: true });
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await lock?.release();
    expect((await lockMirror(dir, { signal, wait: false }))?.tookOver).toBe(false);
  });
});

/** Processes of git that work on a mirror below `dir`. */
async function gitsOf(dir: string): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const environment = await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '');
    if (environment.includes(`MUSTER_GIT_MIRROR=${dir}/`)) found.push(Number(name));
  }
  return found;
}

async function repositoryIsWhole(dir: string): Promise<boolean> {
  const git = spawn('git', ['-C', dir, 'fsck', '--full', '--strict'], { stdio: 'ignore' });
  return (await once(git, 'exit'))[0] === 0;
}

/** Asks without long pauses, so that what follows meets its moment. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  for (const latest = Date.now() + 120_000; Date.now() < latest; ) {
    if (await condition()) return;
    await sleep(5);
  }
  throw new Error('the condition did not come true');
}
