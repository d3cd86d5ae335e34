/** Checkouts of repositories with definitions: foreign files, of which none outside of a definition is read. */
import { lstat, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { musterError } from '../../domain/errors.ts';
import { MOST_DEFINITIONS } from '../../domain/propagation/git-repository.ts';
import type { DefinitionCheckouts } from '../../domain/propagation/ports.ts';
import { checkFiles, META_FILE, MOST_FILES } from '../../domain/propagation/read-definition.ts';

/** Makes checkouts in a folder for files of a moment, which must exist. */
export function createDefinitionCheckouts({ tempDir }: { tempDir: string }): DefinitionCheckouts {
  return {
    within: async (work) => {
      const folder = await mkdtemp(join(tempDir, 'definitions-'));
      try {
        return await work(join(folder, 'checkout'));
      } finally {
        await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      }
    },
    find: async (checkout) => {
      const dir = await realpath(checkout.dir);
      const root = await rootOf(dir, checkout.path);
      const lost = checkout.removedLinks.map((link) => join(dir, link)).filter((link) => isBelow(root, link));
      const meta = lost.find((link) => basename(link) === META_FILE);
      if (meta !== undefined) throw leadsOut(relative(root, meta));
      return {
        folders: await foldersBelow(root),
        read: async (folder) => {
          const home = join(root, folder);
          const gone = lost.find((link) => isBelow(home, link));
          if (gone !== undefined) throw leadsOut(relative(home, gone));
          return readFiles(home);
        },
      };
    },
  };
}

/** The folder that is looked through, as it really is. */
async function rootOf(dir: string, path: string): Promise<string> {
  const root = await realpath(join(dir, path)).catch(() => null);
  const isThere = root !== null && (root === dir || isBelow(dir, root));
  if (isThere && (await lstat(root)).isDirectory()) return root;
  throw musterError('validation_failed', `There is no folder ${path}`, 'path');
}

const isBelow = (folder: string, path: string) => path.startsWith(folder + sep);

function leadsOut(path: string) {
  return musterError(
    'validation_failed',
    `${path.slice(0, 300)} is no file of the definition: links out of it, dangling links and special files are refused`,
    'files',
  );
}

/** Folders with a `meta.yaml`; what is below such a folder belongs to it. */
async function foldersBelow(root: string): Promise<string[]> {
  const found: string[] = [];
  const open = [''];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const entries = await readdir(join(root, folder), { withFileTypes: true });
    if (entries.some(({ name }) => name === META_FILE)) {
      found.push(folder);
      if (found.length > MOST_DEFINITIONS) {
        throw musterError('value_too_large', `The commit has more than ${MOST_DEFINITIONS} definitions`, 'path');
      }
      continue;
    }
    for (const entry of entries) {
      if (entry.isDirectory() && entry.name !== '.git') open.push(join(folder, entry.name));
    }
  }
  return found.sort();
}

/** Content of all files of a definition. A link counts as the file of the definition that it leads to. */
async function readFiles(home: string): Promise<Map<string, Uint8Array>> {
  const sizes = new Map<string, number>();
  const places = new Map<string, string>();
  for await (const path of filesBelow(home)) {
    const place = await realpath(join(home, path)).catch(() => null);
    const stats = place === null ? null : await lstat(place);
    if (place === null || !stats?.isFile() || !isBelow(home, place)) throw leadsOut(path);
    sizes.set(path, stats.size);
    places.set(path, place);
    if (sizes.size > MOST_FILES) break;
  }
  checkFiles(sizes);
  const contents = new Map<string, Uint8Array>();
  for (const path of [...places.keys()].sort()) contents.set(path, await readFile(places.get(path) ?? ''));
  return contents;
}

/** Paths of all that is no folder, with slashes between. */
async function* filesBelow(home: string): AsyncGenerator<string> {
  const open = [''];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const entry of await readdir(join(home, folder), { withFileTypes: true })) {
      if (entry.name === '.git') continue;
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) open.push(path);
      else yield path;
    }
  }
}
