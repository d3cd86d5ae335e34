/** Paths inside of a root file system that nobody works in, and the rights of the way to it. */
import type { Stats } from 'node:fs';
import { lstat, readlink, realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { musterError } from '../../domain/errors.ts';
import type { JobFolder } from './job-folder.ts';

/** As many as the kernel follows. */
const MAX_LINKS = 40;

/**
 * Where a path of the image leads, with its links followed as if the root were the whole machine; null when there is nothing. The
 * answer has no link in it below the root. With `keepLast` a link at the end is not followed, and need not exist.
 */
export async function resolveInRoot(root: string, path: string, keepLast = false): Promise<string | null> {
  const wanted = path.split('/').filter((part) => part !== '' && part !== '.');
  let links = 0;
  let inside: string[] = [];
  while (wanted.length > 0) {
    const part = wanted.shift() ?? '';
    if (part === '..') {
      inside = inside.slice(0, -1);
      continue;
    }
    const next = join(root, ...inside, part);
    if (keepLast && wanted.length === 0) return next;
    const entry = await lstat(next).catch(() => null);
    if (entry === null) return null;
    if (entry.isSymbolicLink()) {
      links += 1;
      if (links > MAX_LINKS) return null;
      const goal = await readlink(next);
      if (goal.startsWith('/')) inside = [];
      wanted.unshift(...goal.split('/').filter((step) => step !== '' && step !== '.'));
      continue;
    }
    if (wanted.length > 0 && !entry.isDirectory()) return null;
    inside.push(part);
  }
  return join(root, ...inside);
}

/**
 * Throws `image_root_unsafe` with the first folder on the way to `path` (itself included) that another user owns or may
 * write to, and could so exchange the image under work. A folder like /tmp, in which everybody changes only his own, is safe.
 */
export async function requireSafeWay(path: string): Promise<void> {
  const way: string[] = [];
  for (let at = await realpath(path); ; at = dirname(at)) {
    way.unshift(at);
    if (at === sep) break;
  }
  for (const component of way) {
    const wrong = isWrong(await lstat(component), true);
    if (wrong !== null) {
      throw musterError('image_root_unsafe', `${component} ${wrong}; images are worked on below folders of root alone`);
    }
  }
}

/**
 * Throws `image_root_unsafe` unless the root of a job, and the folder that holds it, are folders themselves and no links. A login can put
 * something else in their place, and whoever works from outside would follow it to the machine's own files. Only to be relied on
 * while nothing of the job runs.
 */
export async function requireOwnRoot({ image, root }: Pick<JobFolder, 'image' | 'root'>): Promise<void> {
  for (const path of [image, root]) {
    const entry = await lstat(path).catch(() => null);
    if (entry?.isDirectory()) continue;
    const found = entry === null ? 'is gone' : entry.isSymbolicLink() ? 'is a link' : 'is no folder';
    throw musterError('image_root_unsafe', `${path} ${found}; the image under work has been exchanged`);
  }
}

/** Throws `image_root_unsafe` when there are no places in the image where /proc and /dev can be mounted. */
export async function requireMountPlaces(root: string): Promise<void> {
  for (const name of ['proc', 'dev']) {
    const entry = await lstat(join(root, name)).catch(() => null);
    if (entry !== null && !entry.isDirectory()) {
      throw musterError('image_root_unsafe', `/${name} of the image is no folder, so nothing can be mounted there`);
    }
  }
}

/**
 * Throws `image_root_unsafe` when sshd would not let anybody into the image (it asks for a root that only root may change), or there is no
 * place in it for markers.
 */
export async function requireSafeRoot(root: string): Promise<void> {
  const wrong = isWrong(await lstat(root), false);
  if (wrong !== null)
    throw musterError('image_root_unsafe', `/ of the image ${wrong}; sshd lets nobody into such a root`);
  const tmp = await resolveInRoot(root, 'tmp');
  const isMissing = (await lstat(join(root, 'tmp')).catch(() => null)) === null;
  if (!isMissing && (tmp === null || !(await lstat(tmp)).isDirectory())) {
    throw musterError('image_root_unsafe', '/tmp of the image leads to no folder, so there is no place for markers');
  }
}

function isWrong(entry: Stats, stickyIsFine: boolean): string | null {
  if (!entry.isDirectory()) return 'is no folder';
  if (entry.uid !== 0) return `belongs to user ${entry.uid}, not to root`;
  const sticky = stickyIsFine && (entry.mode & 0o1000) !== 0;
  if ((entry.mode & 0o022) !== 0 && !sticky) {
    return `may be written by others (mode ${(entry.mode & 0o7777).toString(8).padStart(4, '0')})`;
  }
  return null;
}
