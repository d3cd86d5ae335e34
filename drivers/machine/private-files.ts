import { chmod, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const OTHERS = 0o077;

/**
 * Takes from group and others what they may do with these files and folders: releases of before left it to the umask. What is not there, or
 * goes meanwhile, is left out; a link is not followed.
 * @param whole folders with all that is in them
 * @param single files, and folders without what is in them
 * @returns what cannot be changed, with the reason
 */
export async function makePrivate({ whole, single }: { whole: string[]; single: string[] }): Promise<string[]> {
  const failed: string[] = [];
  for (const path of single) await close(path, false, failed);
  for (const path of whole) await close(path, true, failed);
  return failed;
}

async function close(path: string, isWhole: boolean, failed: string[]): Promise<void> {
  try {
    const found = await lstat(path);
    if (found.isSymbolicLink()) return;
    if ((found.mode & OTHERS) !== 0) await chmod(path, found.mode & 0o7700);
    if (!isWhole || !found.isDirectory()) return;
    for (const name of await readdir(path)) await close(join(path, name), true, failed);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') failed.push(`${path}: ${message}`);
  }
}
