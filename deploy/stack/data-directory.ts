import { accessSync, constants, existsSync, mkdirSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../../domain/text/message-of.ts';
import { StackError } from './stack-error.ts';

/** Below this much free space (bytes) Postgres would not get through its start. */
const MIN_FREE_TO_START = 128 * 2 ** 20;

/** Makes a folder and those above it that are missing, one after the other: a file system such as /proc refuses at the first. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * Makes the data directory and its log folder, for the user alone, and checks that a stack can live there.
 * @throws {StackError} that names the directory and what is wrong with it
 */
export function prepareDataDirectory(dataDir: string): void {
  try {
    makeFolder(dataDir);
    if (!statSync(dataDir).isDirectory()) throw new Error('it is not a directory');
    accessSync(dataDir, constants.W_OK | constants.X_OK);
    makeFolder(join(dataDir, 'logs'));
  } catch (error) {
    const reason = messageOf(error);
    throw new StackError(`The data directory ${dataDir} cannot be used: ${reason}. MUSTER_DATA_DIR names another one.`);
  }
  const { bavail, bsize } = statfsSync(dataDir);
  if (bavail * bsize < MIN_FREE_TO_START) {
    throw new StackError(
      `The disk of the data directory ${dataDir} is full: ${Math.floor((bavail * bsize) / 2 ** 20)} MiB are free, ` +
        `${MIN_FREE_TO_START / 2 ** 20} MiB are needed. Make room, or name another directory with MUSTER_DATA_DIR.`,
    );
  }
}

/** What the stack itself keeps in its data directory. */
export function ownFiles(dataDir: string): { whole: string[]; single: string[] } {
  const store = ['', '-wal', '-shm', '-journal'].map((suffix) => `temporal.db${suffix}`);
  const single = [...store, 'stack.json', 'postgres-passwords.json', 'admin-token', 'tmp', 'cp'];
  const paths = (names: string[]) => names.map((name) => join(dataDir, name));
  return { whole: paths(['logs']), single: paths(single) };
}
