import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { DEFAULT_VERBOSITY } from '../../domain/operator/flags.ts';
import { loadWatches } from '../../domain/operator/load-watches.ts';
import type { WatchEntry } from '../../domain/operator/watch-entry.ts';
import { judgedStrictly, unreadableFile, type WatchFinding } from '../../domain/operator/watch-errors.ts';
import { homeFiles, parseYaml } from '../../drivers/operator-home/read-home.ts';

export interface ValidateOptions {
  /** The file; unset: `watches.yaml` in the home. */
  file?: string | undefined;
  /** Folder in which the operator will be started; unset: the current folder. */
  home?: string | undefined;
}

/** What a check of a `watches.yaml` found. */
export interface WatchesReport {
  valid: boolean;
  entries: WatchEntry[];
  errors: WatchFinding[];
  warnings: WatchFinding[];
}

/** Checks a `watches.yaml` with the environment and the disk of this machine, and starts nothing. Returns all that is wrong. */
export async function validateWatches(
  { file, home: folder = '.' }: ValidateOptions,
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ file: string; report: WatchesReport }> {
  const home = resolve(folder);
  const path = file === undefined ? join(home, 'watches.yaml') : resolve(file);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const { message } = error as NodeJS.ErrnoException;
    return { file: path, report: { valid: false, entries: [], errors: [unreadableFile(message)], warnings: [] } };
  }
  const loaded = loadWatches({
    text,
    home,
    env,
    files: homeFiles,
    parseYaml,
    defaults: {
      maxConcurrentReconciles: availableParallelism(),
      verbosity: DEFAULT_VERBOSITY,
      markUnsafe: false,
      resyncOnStart: 'stale',
    },
  });
  const { errors, warnings } = judgedStrictly(loaded);
  return { file: path, report: { valid: errors.length === 0, entries: loaded.entries, errors, warnings } };
}
