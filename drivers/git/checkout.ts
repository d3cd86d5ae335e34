import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { RunGit } from './git-process.ts';

/** A folder beside `dest` that becomes `dest` in one step when it is complete; what an earlier try left is removed. */
export async function openPart(dest: string): Promise<string> {
  const parent = dirname(dest);
  await mkdir(parent, { recursive: true });
  for (const name of await readdir(parent)) {
    if (name.startsWith(`${basename(dest)}.part-`)) await rm(join(parent, name), { recursive: true, force: true });
  }
  return `${dest}.part-${randomUUID()}`;
}

/** Copies a mirror's objects (hard links where the disk allows) and refs into `folder`, with nothing checked out. */
export async function copyMirror(run: RunGit, mirror: string, folder: string, signal: AbortSignal): Promise<void> {
  await run(['clone', '--quiet', '--no-checkout', '--template=', '--', mirror, folder], {
    signal,
    env: { GIT_ALLOW_PROTOCOL: 'file' },
  });
}

/** Checks `commit` out, detached, and points `origin` at `url`. */
export async function checkOut(
  run: RunGit,
  { folder, commit, url, signal }: { folder: string; commit: string; url: string; signal: AbortSignal },
): Promise<void> {
  const inFolder = (args: string[]): Promise<string> => run(['-C', folder, ...args], { signal });
  await inFolder(['checkout', '--quiet', '--force', '--detach', commit, '--']);
  await inFolder(['config', 'remote.origin.url', url]);
}

/** Moves the complete folder to its place. */
export async function putInPlace(part: string, dest: string): Promise<void> {
  await rm(dest, { recursive: true, force: true });
  await rename(part, dest);
}
