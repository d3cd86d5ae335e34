/** What of a data directory goes into a backup beside the database. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface SavedPath {
  /** Below the data directory. */
  path: string;
  folder?: true;
  /** What it is, for people. */
  what: string;
}

/** What nothing can make again. A new file of keys is one line here. */
export const SAVED_PATHS: readonly SavedPath[] = [
  { path: 'secret.key', what: 'key of the secrets' },
  { path: 'secret.key.next', what: 'key of the secrets that is to be the next' },
  { path: 'secret.key.old', what: 'key of the secrets that was replaced' },
  { path: 'mac.key', what: 'key of what passes through Temporal' },
  { path: 'postgres-passwords.json', what: 'passwords of the database' },
  { path: 'admin-token', what: "administrator's token" },
  { path: 'configmaps', folder: true, what: 'ConfigMaps' },
];

/** The folder of image files, which are saved on request alone; work on images is not. */
export const IMAGES_PATH = 'images';
const IMAGE_WORK = 'jobs';

/** A file that is saved: where it is, and its path below the data directory. */
export interface FoundFile {
  path: string;
  from: string;
  size: number;
}

/** The files that are there, read as they are now; they are small. */
export function readSavedFiles(dataDir: string): { path: string; content: Buffer }[] {
  return SAVED_PATHS.flatMap(({ path, folder }) =>
    filesBelow(dataDir, path, folder === true).map((found) => ({
      path: found,
      content: readFileSync(join(dataDir, found)),
    })),
  );
}

/** Files of images in `imagesDir`, without what is being worked on. */
export function imageFiles(imagesDir: string): FoundFile[] {
  return filesBelow(imagesDir, '', true)
    .filter((path) => path.split('/')[0] !== IMAGE_WORK)
    .map((path) => {
      const from = join(imagesDir, path);
      return { path: `${IMAGES_PATH}/${path}`, from, size: statSync(from).size };
    });
}

/** Plain files at or below a path, as paths below `root`; none where nothing is. */
function filesBelow(root: string, path: string, folder: boolean): string[] {
  const whole = join(root, path);
  if (!folder) return statSync(whole, { throwIfNoEntry: false })?.isFile() ? [path] : [];
  const entries = statSync(whole, { throwIfNoEntry: false })?.isDirectory()
    ? readdirSync(whole, { recursive: true, withFileTypes: true })
    : [];
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + (root.endsWith('/') ? 0 : 1)))
    .sort();
}
