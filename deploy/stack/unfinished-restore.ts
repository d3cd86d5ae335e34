/** A restore makes everything in a folder of the data directory, and moves it into place when all of it is there. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { clearPostmasterFile } from './postgres-cluster.ts';
import { StackError } from './stack-error.ts';

/** What a restore has not finished: nothing of it counts. */
const UNFINISHED = 'restore.unfinished';
/** What it has finished and not moved into place yet: all of it counts. */
const COMPLETE = 'restore.complete';
/** Made anew by every start, or not by Muster at all; a data directory with nothing else is empty. */
const HARMLESS = new Set([UNFINISHED, COMPLETE, 'logs', 'stack.json', 'lost+found']);

/** What a data directory holds already, by name. */
export function restoreObstacles(dataDir: string): string[] {
  return readdirSync(dataDir).filter((name) => !HARMLESS.has(name));
}

/** An empty folder for a restore; what a broken-off one has left is removed, its Postgres is stopped before. */
export async function beginRestore(dataDir: string): Promise<string> {
  const folder = join(dataDir, UNFINISHED);
  await discardRestore(dataDir);
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

export async function discardRestore(dataDir: string): Promise<void> {
  const folder = join(dataDir, UNFINISHED);
  await clearPostmasterFile(folder);
  rmSync(folder, { recursive: true, force: true });
}

/** From here on the restore counts, also when the process is killed in the next moment. */
export function completeRestore(dataDir: string): void {
  renameSync(join(dataDir, UNFINISHED), join(dataDir, COMPLETE));
  moveIntoPlace(dataDir);
}

/**
 * What every start does first: it moves what a finished restore has left to be moved.
 * @throws {StackError} when a restore was broken off here
 */
export function settleRestore(dataDir: string): void {
  moveIntoPlace(dataDir);
  if (!existsSync(join(dataDir, UNFINISHED))) return;
  throw new StackError(
    `A restore was broken off in ${dataDir}, so there are no records yet. Run "./muster restore FILE" again; to begin with an ` +
      `empty installation in its place, remove ${join(dataDir, UNFINISHED)}.`,
  );
}

function moveIntoPlace(dataDir: string): void {
  const folder = join(dataDir, COMPLETE);
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    // The log of its own Postgres is of no use any more, and the data directory may have logs already.
    if (HARMLESS.has(name)) rmSync(join(folder, name), { recursive: true, force: true });
    else renameSync(join(folder, name), join(dataDir, name));
  }
  rmdirSync(folder);
}
