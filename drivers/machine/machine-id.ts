import { randomUUID } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeOnce } from './make-once.ts';

/** Identity of this data directory, made once: work that needs its disk is routed by it. One that is there is only read. */
export async function readHostId(dataDir: string): Promise<string> {
  const path = join(dataDir, 'host-id');
  const text = await readFile(path, 'utf8').catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await makeOnce(path, randomUUID());
    return readFile(path, 'utf8');
  });
  const id = text.trim();
  if (!/^[0-9a-f-]{36}$/.test(id)) throw new Error(`${path} holds no id: remove it, and a new one is made`);
  return id;
}
