import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Identity of this data directory, made once: work that needs its disk is routed by it. One that is there is only read. */
export async function readHostId(dataDir: string): Promise<string> {
  const path = join(dataDir, 'host-id');
  const text = await readFile(path, 'utf8').catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    await makeHostId(dataDir, path);
    return readFile(path, 'utf8');
  });
  const id = text.trim();
  if (!/^[0-9a-f-]{36}$/.test(id)) throw new Error(`${path} holds no id: remove it, and a new one is made`);
  return id;
}

/** Of several that make it at once one is the first, and its id counts. */
async function makeHostId(dataDir: string, path: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomUUID()}.tmp`;
  await writeFile(temporary, randomUUID(), { flush: true });
  await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await unlink(temporary);
}
