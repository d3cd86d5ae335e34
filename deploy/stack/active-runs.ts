import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isFolderName } from '../../domain/runs/folder-name.ts';
import { readClaim, readExit, runPaths } from '../../drivers/local-runner/run-files.ts';
import { isAlive } from '../../drivers/machine/process-table.ts';

/** Ids of the runs of this data directory, those of its operator too, whose launcher lives and has not written an end. Needs no server. */
export async function activeRuns(dataDir: string): Promise<string[]> {
  const folders = [join(dataDir, 'runs'), join(dataDir, 'operator', 'runs')];
  return (await Promise.all(folders.map(activeIn))).flat().sort();
}

async function activeIn(runsDir: string): Promise<string[]> {
  const names = (await readdir(runsDir).catch(() => [])).filter(isFolderName);
  const active: string[] = [];
  for (const name of names) {
    const paths = runPaths(runsDir, name);
    const claim = await readClaim(paths).catch(() => null);
    if (claim === null || !(await isAlive(claim))) continue;
    if ((await readExit(paths).catch(() => null)) === null) active.push(name);
  }
  return active;
}
