/**
 * What is put into an image for the time of the work, and how it is taken out again: the machine's resolv.conf, a policy that
 * starts no services, the folders on which something is mounted. What was there is kept beside the image; what the user made of
 * our files stays as he left it. All this happens while nothing runs in the image.
 */
import { execFile } from 'node:child_process';
import { lstat, mkdir, open, readFile, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { writePrivate } from '../local-runner/run-files.ts';
import type { JobFolder } from './job-folder.ts';
import { removeTree } from './remove-tree.ts';
import { PROGRAM_PATH } from './room.ts';
import { resolveInRoot } from './root-paths.ts';

const run = promisify(execFile);

interface PlacedFile {
  kind: 'file';
  /** Path in the image. */
  path: string;
  content: string;
  /** Whether there was something before, and its name in the job's folder of saved files. */
  had: boolean;
  saved: string;
  /** Time of the folder before, and once our file is in it (null: perhaps it is not), as `touch` takes it. */
  before: string;
  after: string | null;
}

interface PlacedFolder {
  kind: 'folder';
  path: string;
}

type Change = PlacedFile | PlacedFolder;

/** Debian's way to say that no service may be started (invoke-rc.d(8)). */
const POLICY = '#!/bin/sh\nexit 101\n';
/** The machine's own. */
const RESOLV_CONF = '/etc/resolv.conf';
/** Where Ansible keeps its files while it works: left empty, and taken out if the image did not have it. */
const ANSIBLE_FOLDERS = ['root/.ansible', 'root/.ansible/tmp'];

/** Puts everything in; what was put in before has to be taken out first (`takeOut`). */
export async function putIn(folder: JobFolder): Promise<void> {
  const changes: Change[] = [];
  // Written before each step, so that whoever comes after a crash knows what may have been done.
  const note = () => writePrivate(folder.changes, JSON.stringify(changes));
  for (const [path, mode] of [
    ['proc', 0o555],
    ['dev', 0o755],
    ['tmp', 0o1777],
  ] as const) {
    // Whatever is there stays: a login beside the image can do without its /tmp.
    if ((await lstat(join(folder.root, path)).catch(() => null)) !== null) continue;
    changes.push({ kind: 'folder', path });
    await note();
    await mkdir(join(folder.root, path));
    await run('chmod', [mode.toString(8), join(folder.root, path)], { env: { PATH: PROGRAM_PATH } });
  }
  for (const path of ANSIBLE_FOLDERS) {
    if ((await resolveInRoot(folder.root, path)) === null) changes.push({ kind: 'folder', path });
  }
  const resolvConf = await readFile(RESOLV_CONF, 'utf8').catch(() => '');
  for (const [path, content, mode] of [
    ['etc/resolv.conf', resolvConf, 0o644],
    ['usr/sbin/policy-rc.d', POLICY, 0o755],
  ] as const) {
    const place = await placeOf(folder, path);
    if (place === null) continue;
    const before = await timeOf(dirname(place));
    const had = (await lstat(place).catch(() => null)) !== null;
    const saved = path.replaceAll('/', '-');
    const change: PlacedFile = { kind: 'file', path, content, had, saved, before, after: null };
    changes.push(change);
    await note();
    if (had) await rename(place, join(folder.saved, saved));
    await writeWithMode(place, content, mode);
    change.after = await timeOf(dirname(place));
  }
  await note();
}

/** A new file with just this mode, whatever the umask. */
async function writeWithMode(path: string, content: string, mode: number): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    await file.writeFile(content);
    await file.chmod(mode);
  } finally {
    await file.close();
  }
}

/** Takes out what was put in and puts back what was there; safe to repeat, and after a crash at any step. */
export async function takeOut(folder: JobFolder): Promise<void> {
  const text = await readFile(folder.changes, 'utf8').catch(() => '[]');
  const changes = JSON.parse(text) as Change[];
  for (const change of changes.reverse()) {
    if (change.kind === 'file') await takeOutFile(folder, change);
    else await takeOutFolder(folder, change);
  }
  await rm(folder.changes, { force: true });
  await removeTree(folder.saved);
}

async function takeOutFile(folder: JobFolder, change: PlacedFile): Promise<void> {
  const place = await placeOf(folder, change.path);
  if (place === null) return;
  const dir = dirname(place);
  const timeNow = await timeOf(dir);
  const saved = join(folder.saved, change.saved);
  const isSaved = (await lstat(saved).catch(() => null)) !== null;
  if (change.had && !isSaved) return;
  // Something else in our place is the user's work; before our file was in place there was no user.
  if (change.after !== null && !(await isOurs(place, change))) return;
  // A folder never replaces a file.
  await rm(place, { force: true });
  if (isSaved) await rename(saved, place);
  if (timeNow === change.after) await setTime(dir, change.before);
}

/** Whether our file is still what is there; one that was removed counts as ours. */
async function isOurs(place: string, { content }: PlacedFile): Promise<boolean> {
  const entry = await lstat(place).catch(() => null);
  if (entry === null) return true;
  // What has another size is not read: it may be larger than our memory.
  return entry.isFile() && entry.size === Buffer.byteLength(content) && (await readFile(place, 'utf8')) === content;
}

/** An empty folder goes that the image did not have. */
async function takeOutFolder(folder: JobFolder, { path }: PlacedFolder): Promise<void> {
  const place = await placeOf(folder, path);
  const entry = place === null ? null : await lstat(place).catch(() => null);
  if (place === null || !entry?.isDirectory()) return;
  await rmdir(place).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY') throw error;
  });
}

/** Where a path of the image is, its last part taken as it is; null when its folder is not there. */
async function placeOf(folder: JobFolder, path: string): Promise<string | null> {
  const dir = await resolveInRoot(folder.root, dirname(path));
  if (dir === null || !(await lstat(dir)).isDirectory()) return null;
  return join(dir, path.slice(path.lastIndexOf('/') + 1));
}

/** With all its digits, which a number would not keep. */
async function timeOf(path: string): Promise<string> {
  const { mtimeNs } = await stat(path, { bigint: true });
  const digits = mtimeNs.toString().padStart(10, '0');
  return `@${digits.slice(0, -9)}.${digits.slice(-9)}`;
}

async function setTime(path: string, time: string): Promise<void> {
  await run('touch', ['--no-create', '--time=modify', `--date=${time}`, '--', path], { env: { PATH: PROGRAM_PATH } });
}
