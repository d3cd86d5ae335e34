import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { removeEscapingLinks } from './escaping-links.ts';
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

/** Copies a mirror's objects (hard links where the disk allows) and refs into `part`, with nothing checked out. */
export async function copyMirror(run: RunGit, mirror: string, part: string, signal: AbortSignal): Promise<void> {
  await run(['clone', '--quiet', '--no-checkout', '--template=', '--', mirror, part], {
    signal,
    env: { GIT_ALLOW_PROTOCOL: 'file' },
  });
}

/**
 * Checks `commit` out, detached, points `origin` at `url`, removes links that lead out and moves the whole to `dest`.
 * Answers the warnings.
 */
export async function finishCheckout(
  run: RunGit,
  options: { part: string; dest: string; commit: string; url: string; signal: AbortSignal },
): Promise<string[]> {
  const { part, dest, commit, url, signal } = options;
  const inPart = (args: string[]): Promise<string> => run(['-C', part, ...args], { signal });
  await inPart(['checkout', '--quiet', '--force', '--detach', commit, '--']);
  await inPart(['config', 'remote.origin.url', url]);
  const warnings = await removeEscapingLinks(part);
  await rm(dest, { recursive: true, force: true });
  await rename(part, dest);
  return warnings;
}
