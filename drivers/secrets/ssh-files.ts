import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Keeps the ssh key as a file that only we may read, for programs that want a path. Known hosts are given ones first;
 * what ssh has learnt since stays.
 */
export function openSshFiles(dir: string) {
  return async (values: { privateKey: string; knownHosts: string }): Promise<{ key: string; knownHosts: string }> => {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const key = join(dir, 'id');
    const knownHosts = join(dir, 'known_hosts');
    if ((await readFile(key, 'utf8').catch(() => null)) !== values.privateKey) {
      const temporary = `${key}.${randomUUID()}.tmp`;
      await writeFile(temporary, values.privateKey, { mode: 0o600 });
      await rename(temporary, key);
    }
    const known = new Set((await readFile(knownHosts, 'utf8').catch(() => '')).split('\n'));
    const missing = values.knownHosts.split('\n').filter((line) => line !== '' && !known.has(line));
    if (missing.length > 0) await appendFile(knownHosts, `${missing.join('\n')}\n`, { mode: 0o600 });
    return { key, knownHosts };
  };
}
