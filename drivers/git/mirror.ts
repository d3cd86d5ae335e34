import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readGitFailure } from '../../domain/configurations/git-failure.ts';
import { GitFailure, type RunGit } from './git-process.ts';
import { MIRROR_VARIABLE } from './orphans.ts';

/** The remote that a mirror copies: its clean address and the environment that reaches it. */
export interface Remote {
  url: string;
  env: Readonly<Record<string, string>>;
}

/** File whose time says when the mirror was used last. */
export const USED_STAMP = 'muster-used';
/** File that names this copy of the mirror, so that only a copy known to be bad is thrown away. */
const BIRTH = 'muster-birth';
/** Whatever the umask, what git makes in a mirror is for its owner alone; a checkout has the modes of its repository. */
export const PRIVATE = ['-c', 'core.sharedRepository=0600'];
const ALL_REFS = ['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'];

/** One bare mirror, while its lock is held. */
export interface Mirror {
  path: string;
  /** Names this copy; a rebuilt mirror has another birth. */
  birth(): Promise<string>;
  /** Full id of the commit that `expression` (an id or the beginning of one) means, `null` when the mirror has none such. */
  commit(expression: string): Promise<string | null>;
  /** Brings all branches and tags here; a mirror that turns out to be broken is made anew. */
  refresh(remote: Remote): Promise<void>;
  /** Makes a broken mirror anew; answers whether that was needed. */
  repair(remote: Remote): Promise<boolean>;
  /** Brings one commit that no branch or tag reaches, where the server gives it out. */
  fetchCommit(remote: Remote, commit: string): Promise<void>;
  discard(): Promise<void>;
  touch(): Promise<void>;
}

export interface MirrorContext {
  run: RunGit;
  signal: AbortSignal;
  onProgress?: ((line: string) => void) | undefined;
}

/** Opens the mirror at `path`; the caller holds its lock. Whatever a killed git left there is cleared first. */
export async function openMirror(path: string, context: MirrorContext): Promise<Mirror> {
  const { run, signal, onProgress } = context;
  const mark = { [MIRROR_VARIABLE]: path };
  const local = (args: string[]): Promise<string> =>
    run([...PRIVATE, `--git-dir=${path}`, ...args], { env: mark, signal });
  const fetch = (dir: string, remote: Remote, refs: readonly string[], onLine = onProgress): Promise<string> =>
    run(
      [
        ...PRIVATE,
        `--git-dir=${dir}`,
        'fetch',
        '--progress',
        '--force',
        '--no-tags',
        '--no-write-fetch-head',
        '--prune',
        '--',
        remote.url,
        ...refs,
      ],
      { env: { ...remote.env, ...mark }, signal, onProgress: onLine },
    );
  const build = async (remote: Remote): Promise<void> => {
    const fresh = `${path}.new-${randomUUID()}`;
    try {
      await run([...PRIVATE, 'init', '--quiet', '--bare', '--template=', fresh], { env: mark, signal });
      await fetch(fresh, remote, ALL_REFS);
      await writeFile(join(fresh, BIRTH), randomUUID(), { mode: 0o600 });
      await rm(path, { recursive: true, force: true });
      await rename(fresh, path);
    } finally {
      await rm(fresh, { recursive: true, force: true });
    }
  };
  const isSound = async (): Promise<boolean> => {
    try {
      await local(['fsck', '--connectivity-only', '--no-dangling', '--no-progress']);
      return true;
    } catch (error) {
      if (error instanceof GitFailure) return false;
      throw error;
    }
  };
  const repair = async (remote: Remote): Promise<boolean> => {
    if (await isSound()) return false;
    await build(remote);
    return true;
  };
  await clearLeftovers(path);
  return {
    path,
    birth: () => readFile(join(path, BIRTH), 'utf8').catch(() => ''),
    commit: async (expression) => {
      if (!(await exists(path))) return null;
      try {
        return (await local(['rev-parse', '--verify', '--quiet', `${expression}^{commit}`])).trim();
      } catch (error) {
        if (error instanceof GitFailure) return null;
        throw error;
      }
    },
    refresh: async (remote) => {
      if (!(await exists(path))) return build(remote);
      let complained = false;
      try {
        await fetch(path, remote, ALL_REFS, (line) => {
          complained ||= line.startsWith('error: ');
          onProgress?.(line);
        });
        // Git fetches anew what it cannot read, but keeps the broken pack.
        if (complained) await build(remote);
      } catch (error) {
        const isUnclear = error instanceof GitFailure && readGitFailure(error.stderr).code === 'clone_failed';
        if (!isUnclear || !(await repair(remote))) throw error;
      }
    },
    repair,
    fetchCommit: async (remote, commit) => {
      await fetch(path, remote, [commit]);
    },
    discard: () => rm(path, { recursive: true, force: true }),
    touch: () => writeFile(join(path, USED_STAMP), '', { mode: 0o600 }),
  };
}

/** Removes lock files, half packs and half-made copies: with the mirror's lock held nobody can be using them. */
async function clearLeftovers(path: string): Promise<void> {
  const parent = dirname(path);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  for (const name of await readdir(parent)) {
    if (name.startsWith(`${basename(path)}.new-`)) await rm(join(parent, name), { recursive: true, force: true });
  }
  if (!(await exists(path))) return;
  await clearIn(path, (name) => name.endsWith('.lock'), false);
  await clearIn(join(path, 'refs'), (name) => name.endsWith('.lock'), true);
  // One of them keeps git from ever packing the mirror again, without a word.
  await clearIn(join(path, 'objects'), (name) => name.endsWith('.lock'), false);
  await clearIn(join(path, 'objects', 'info'), (name) => name.endsWith('.lock'), true);
  await clearIn(join(path, 'objects', 'pack'), (name) => name.startsWith('tmp_') || name.startsWith('.tmp-'), false);
}

async function clearIn(dir: string, isLeftover: (name: string) => boolean, recursive: boolean): Promise<void> {
  const names = await readdir(dir, { recursive }).catch(() => []);
  for (const name of names) if (isLeftover(name)) await rm(join(dir, name), { force: true });
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
