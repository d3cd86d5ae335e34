import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { PROGRAM_PATH } from './room.ts';

/** Bytes that a folder takes on its disk; of files that vanish meanwhile whatever was seen. */
export function diskUsage(path: string, signal?: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const args = ['--summarize', '--one-file-system', '--block-size=1', '--', path];
    execFile('du', args, { env: { PATH: PROGRAM_PATH, LC_ALL: 'C' }, signal }, (error, stdout) => {
      const bytes = /^(\d+)\t/.exec(stdout)?.[1];
      if (bytes !== undefined) resolve(Number(bytes));
      else reject(error ?? new Error(`du said nothing about ${path}`));
    });
  });
}

/** Bytes that are still free for us on the disk of a path. */
export async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}
