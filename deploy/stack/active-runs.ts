import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isFolderName } from '../../domain/runs/folder-name.ts';
import { readClaim, readExit, runPaths } from '../../drivers/local-runner/run-files.ts';
import { isAlive } from '../../drivers/machine/process-table.ts';

/** Ids of the runs of this data directory whose launcher lives and has not written an end. Needs no server. */
export async function activeRuns(dataDir: string): Promise<string[]> {
  const runsDir = join(dataDir, 'runs');
  const names = (await readdir(runsDir).catch(() => [])).filter(isFolderName);
  const active: string[] = [];
  for (const name of names) {
    const paths = runPaths(runsDir, name);
    const claim = await readClaim(paths).catch(() => null);
    if (claim === null || !(await isAlive(claim))) continue;
    if ((await readExit(paths).catch(() => null)) === null) active.push(name);
  }
  return active.sort();
}
