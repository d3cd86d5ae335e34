import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Identity of this data directory, made once: work that needs its disk is routed by it. */
export async function readHostId(dataDir: string): Promise<string> {
  const path = join(dataDir, 'host-id');
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}.tmp`;
  await writeFile(temporary, randomUUID());
  await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await unlink(temporary);
  return (await readFile(path, 'utf8')).trim();
}
