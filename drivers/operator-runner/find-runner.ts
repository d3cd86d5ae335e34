import { access, constants, readdir, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

export interface RunnerPlaces {
  /** Of MUSTER_ANSIBLE_RUNNER. */
  named: string | undefined;
  cacheDir: string;
  searchPath: string;
}

/** Begin of the names of environments with ansible-runner in the cache. */
const PREFIX = 'operator-';

/** Returns the absolute path of ansible-runner: the one that is named, else that of the newest environment, else the first in the search path. */
export async function findRunner({ named, cacheDir, searchPath }: RunnerPlaces): Promise<string | null> {
  if (named !== undefined) return (await isExecutable(named)) ? named : null;
  const names = await readdir(cacheDir).catch(() => []);
  const made = await Promise.all(
    names
      .filter((name) => name.startsWith(PREFIX))
      .map(async (name) => {
        const folder = join(cacheDir, name);
        return {
          path: join(folder, 'bin', 'ansible-runner'),
          at: (await stat(folder).catch(() => null))?.mtimeMs ?? 0,
        };
      }),
  );
  made.sort((one, other) => other.at - one.at);
  const found = searchPath.split(delimiter).filter((folder) => folder.startsWith('/'));
  for (const path of [...made.map(({ path }) => path), ...found.map((folder) => join(folder, 'ansible-runner'))]) {
    if (await isExecutable(path)) return path;
  }
  return null;
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
