import { statfs } from 'node:fs/promises';
import { diskOf } from '../../domain/service/system-checks.ts';
import type { SystemDisk } from '../../domain/service/system-schema.ts';

/** Returns the disk of a folder; null when it cannot be read. */
export async function readDisk(path: string): Promise<SystemDisk | null> {
  const found = await statfs(path).catch(() => null);
  return found === null ? null : diskOf(path, found.bavail * found.bsize, found.blocks * found.bsize);
}
