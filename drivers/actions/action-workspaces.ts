/** Folders of actions: the files of a definition as an action finds them, its inputs, its secrets. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import type { ActionWorkspaces } from '../../domain/propagation/ports.ts';
import { makeRunDirectory, runPaths } from '../local-runner/run-files.ts';

/** Makes the folders of actions in those of their runs, which only this user may enter. */
export function createActionWorkspaces({ runsDir }: { runsDir: string }): ActionWorkspaces {
  return {
    make: async (runId) => {
      const paths = runPaths(runsDir, runId);
      await makeRunDirectory(paths);
      await mkdir(paths.action, { recursive: true, mode: 0o700 });
      return mkdtemp(join(paths.action, 'a'));
    },
    write: async (dir, files) => {
      for (const { path, content, executable = false } of files) {
        const target = resolve(dir, path);
        if (!target.startsWith(dir + sep)) throw new Error(`${path} leads out of the folder of the action`);
        await mkdir(dirname(target), { recursive: true, mode: 0o700 });
        await writeFile(target, content, { mode: executable ? 0o700 : 0o600, flag: 'wx' });
      }
    },
    remove: (runId) => rm(runPaths(runsDir, runId).action, { recursive: true, force: true, maxRetries: 3 }),
  };
}
