import { createHash } from 'node:crypto';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunGit } from './git-process.ts';
import { createKeyedMutex } from './keyed-mutex.ts';
import { type Mirror, openMirror, USED_STAMP } from './mirror.ts';
import { lockMirror } from './mirror-lock.ts';
import { endOrphans } from './orphans.ts';

/** Which mirror: sources have credentials of their own, so they do not share a mirror with the bare address. */
export interface MirrorKey {
  url: string;
  sourceName: string | null;
}

export interface UseMirror {
  key: MirrorKey;
  signal: AbortSignal;
  onProgress?: ((line: string) => void) | undefined;
}

export interface Mirrors {
  /** Runs `work` with the mirror while nobody else, in this process or another, touches it. */
  use<T>(options: UseMirror, work: (mirror: Mirror) => Promise<T>): Promise<T>;
  /** Removes the mirrors that nobody used for `unusedForMs`, never one in use; answers how many. */
  prune(options: { unusedForMs: number; signal?: AbortSignal }): Promise<number>;
}

/** The bare mirrors below `dir`, one per (url, source name), named by a hash. */
export function createMirrors(options: { dir: string; run: RunGit }): Mirrors {
  const { dir, run } = options;
  const mutex = createKeyedMutex();

  const locked = async <T>(
    name: string,
    use: Omit<UseMirror, 'key'>,
    work: (mirror: Mirror) => Promise<T>,
  ): Promise<T> => {
    const path = join(dir, `${name}.git`);
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const lock = await lockMirror(join(dir, `${name}.lock`), { signal: use.signal, wait: true });
    try {
      if (lock?.tookOver) await endOrphans(path, use.signal);
      return await work(await openMirror(path, { run, signal: use.signal, onProgress: use.onProgress }));
    } finally {
      await lock?.release();
    }
  };

  const pruneOne = async (name: string, before: number, signal: AbortSignal): Promise<boolean> => {
    const path = join(dir, `${name}.git`);
    if (!(await isUnused(path, before))) return false;
    const lock = await lockMirror(join(dir, `${name}.lock`), { signal, wait: false });
    if (lock === null) return false;
    try {
      if (!(await isUnused(path, before))) return false;
      if (lock.tookOver) await endOrphans(path, signal);
      await (await openMirror(path, { run, signal })).discard();
      return true;
    } finally {
      await lock.release();
    }
  };

  return {
    use: ({ key, ...rest }, work) => {
      const name = mirrorName(key);
      return mutex(name, rest.signal, () => locked(name, rest, work));
    },
    prune: async ({ unusedForMs, signal = new AbortController().signal }) => {
      const before = Date.now() - unusedForMs;
      const names = new Set<string>();
      for (const entry of await readdir(dir).catch(() => [])) {
        const name = /^([0-9a-f]{64})\.git(?:\.new-.+)?$/.exec(entry)?.[1];
        if (name !== undefined) names.add(name);
      }
      let removed = 0;
      for (const name of names) {
        if (await mutex(name, signal, () => pruneOne(name, before, signal))) removed += 1;
      }
      return removed;
    },
  };
}

/** Name of the mirror of `key`: 64 hexadecimal digits. */
export function mirrorName(key: MirrorKey): string {
  return createHash('sha256')
    .update(JSON.stringify([key.url, key.sourceName]))
    .digest('hex');
}

async function isUnused(path: string, before: number): Promise<boolean> {
  const times = await Promise.all([join(path, USED_STAMP), path].map((one) => stat(one).catch(() => null)));
  const [used, made] = times;
  return (used ?? made)?.mtimeMs === undefined || (used ?? made ?? { mtimeMs: 0 }).mtimeMs < before;
}
