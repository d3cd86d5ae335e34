import { access, constants, readdir, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/**
 * Folder with ansible-playbook and its python: the one that is named, else the newest environment of the cache, else the
 * first in the search path. Null when there is none.
 */
export async function findAnsible(options: {
  binDir?: string | undefined;
  cacheDir: string;
  searchPath: string;
}): Promise<string | null> {
  if (options.binDir !== undefined) return options.binDir;
  const names = await readdir(options.cacheDir).catch(() => []);
  const cached = await Promise.all(
    names
      .filter((name) => name.startsWith('ansible-'))
      .map(async (name) => {
        const bin = join(options.cacheDir, name, 'bin');
        return { bin, made: (await stat(bin).catch(() => null))?.mtimeMs ?? 0 };
      }),
  );
  cached.sort((a, b) => b.made - a.made);
  for (const bin of [...cached.map((entry) => entry.bin), ...options.searchPath.split(delimiter)]) {
    if (await isExecutable(join(bin, 'ansible-playbook'))) return bin;
  }
  return null;
}

/** The interpreter beside ansible-playbook, else the system's. */
export async function pythonOf(binDir: string): Promise<string> {
  const beside = join(binDir, 'python3');
  return (await isExecutable(beside)) ? beside : 'python3';
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
