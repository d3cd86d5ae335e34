import { existsSync, statfsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { findOnPath, output } from './commands.mjs';
import { CACHE_DIR } from './settings.mjs';
import { SetupError } from './setup-error.mjs';

/** What Go's caches hold when all programs of the cluster are built, and the programs themselves (GiB). */
const GO_CACHES = 10;
const PROGRAMS = 1;
const GIB = 2 ** 30;

/**
 * Checks that there is room for the programs of the cluster and for what Go keeps while it builds them; what its caches
 * hold already counts.
 * @throws {SetupError} that says how much is free where, and how much is needed
 */
export function checkFreeDisk() {
  const [buildCache, modules] = (output('go', ['env', 'GOCACHE', 'GOMODCACHE']) ?? '').split('\n');
  const most = GO_CACHES + PROGRAMS;
  for (const folder of [buildCache || homedir(), CACHE_DIR]) {
    const free = freeSpace(folder);
    if (free >= most) continue;
    const needed = folder === CACHE_DIR ? PROGRAMS : most - Math.min(GO_CACHES, size(buildCache) + size(modules));
    if (free >= needed) continue;
    throw new SetupError(
      `Building the programs of the development cluster needs ${needed.toFixed(1)} GiB at ${folder}, where ` +
        `${free.toFixed(1)} GiB are free. Make room, or set GOCACHE, GOMODCACHE and MUSTER_CACHE_DIR to folders with more.`,
    );
  }
}

/** Free space where a folder is or would be made (GiB). */
function freeSpace(folder) {
  let path = folder;
  while (!existsSync(path)) path = dirname(path);
  const { bavail, bsize } = statfsSync(path);
  return (bavail * bsize) / GIB;
}

/** Disk that a folder takes (GiB); 0 when it is not there. */
function size(folder) {
  if (!folder || !existsSync(folder) || !findOnPath('du')) return 0;
  return (Number.parseInt(output('du', ['-sk', folder]) ?? '0', 10) * 1024) / GIB;
}
