/** Folders for the sockets of ssh: short, and of this user alone. */
import { createHash } from 'node:crypto';
import { lstat, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Longest folder for ssh's control sockets: their names may have 107 bytes in all, of which ssh's own part takes 60. */
const CONTROL_PATH_MAX = 45;

/** Returns the folder for what works in `dir`: below `near` where that is short enough, else in the folder that all users share. */
export function controlPathOf(dir: string, { near, shortDir }: { near: string; shortDir: string }): string {
  const short = createHash('sha256').update(dir).digest('hex').slice(0, 12);
  const path = join(near, short);
  return path.length <= CONTROL_PATH_MAX ? path : join(shortDir, `muster-cp-${short}`);
}

/**
 * Makes a folder that only we may enter. In a folder that all users share somebody else may have made one of that name:
 * whoever owns it could take over ssh connections, so such a one is refused.
 */
export async function makeOwnFolder(dir: string): Promise<void> {
  await mkdir(dirname(dir), { recursive: true, mode: 0o700 });
  await mkdir(dir, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const found = await lstat(dir);
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o077) !== 0) {
    throw new Error(`${dir} was made by somebody else or is open to others: remove it`);
  }
}
