import { chmod, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const OTHERS = 0o077;

/**
 * Takes from group and others what they may do with these files, and with all that is in these folders: releases of before left it to the
 * umask. What is not there, or goes meanwhile, is left out; a link is not followed.
 * @returns what cannot be changed, with the reason
 */
export async function makePrivate(paths: readonly string[]): Promise<string[]> {
  const failed: string[] = [];
  for (const path of paths) await closeOne(path, failed);
  return failed;
}

async function closeOne(path: string, failed: string[]): Promise<void> {
  try {
    const found = await lstat(path);
    if (found.isSymbolicLink()) return;
    if ((found.mode & OTHERS) !== 0) await chmod(path, found.mode & 0o7700);
    if (!found.isDirectory()) return;
    for (const name of await readdir(path)) await closeOne(join(path, name), failed);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') failed.push(`${path}: ${message}`);
  }
}
