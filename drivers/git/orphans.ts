import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Every git that works on a mirror carries the mirror's path in this variable. */
export const MIRROR_VARIABLE = 'MUSTER_GIT_MIRROR';

/**
 * Ends the gits that a dead Muster process left working on a mirror, and waits until they are gone. Only for the holder
 * of the mirror's lock that has no git of its own running yet.
 */
export async function endOrphans(mirror: string, signal: AbortSignal): Promise<void> {
  const mark = `${MIRROR_VARIABLE}=${mirror}`;
  for (;;) {
    const found = await processesWith(mark);
    if (found.length === 0) return;
    for (const pid of found) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It ended by itself meanwhile.
      }
    }
    await sleep(10, undefined, { signal });
  }
}

async function processesWith(mark: string): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    const environment = await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '');
    if (environment.split('\0').includes(mark)) found.push(Number(name));
  }
  return found;
}
