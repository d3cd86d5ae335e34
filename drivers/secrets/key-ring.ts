/** The keys of the stored secrets, in files: the one that writes, and beside it the next and the former one while they change. */
import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { musterError } from '../../domain/errors.ts';

export const KEY_BYTES = 32;
/** A key is known by so many bytes of its digest. */
export const KEY_ID_BYTES = 4;

export interface Key {
  id: Buffer;
  bytes: Buffer;
}

export interface KeyRing {
  /** Writes; null where there is none. */
  current: Key | null;
  /** Is to be the current one. */
  next: Key | null;
  /** Was the current one. */
  old: Key | null;
}

const nextFile = (keyFile: string): string => `${keyFile}.next`;
const oldFile = (keyFile: string): string => `${keyFile}.old`;

/** The keys as the files are at each call; files that have not changed are not read again. */
export function openKeyRing(keyFile: string): () => KeyRing {
  const paths = [keyFile, nextFile(keyFile), oldFile(keyFile)];
  let seen = '';
  let ring: KeyRing = { current: null, next: null, old: null };
  return () => {
    for (;;) {
      const now = stamp(paths);
      if (now === seen) return ring;
      const [current = null, next = null, old = null] = paths.map(readKey);
      // They may change between two looks.
      if (stamp(paths) !== now) continue;
      ring = { current, next, old };
      seen = now;
      return ring;
    }
  };
}

function stamp(paths: readonly string[]): string {
  return paths
    .map((path) => {
      const found = statSync(path, { throwIfNoEntry: false });
      return found ? `${found.ino} ${found.mtimeMs} ${found.size}` : '-';
    })
    .join(' ');
}

function readKey(path: string): Key | null {
  const bytes = readIfThere(path);
  if (bytes === null) return null;
  if (bytes.length !== KEY_BYTES) {
    throw musterError(
      'secret_unreadable',
      `The key file ${path} must have ${KEY_BYTES} bytes, it has ${bytes.length}: restore it, or the backup that it belongs to (./muster restore FILE)`,
    );
  }
  const id = createHash('sha256').update('muster key id').update(bytes).digest().subarray(0, KEY_ID_BYTES);
  return { id, bytes };
}

function readIfThere(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Makes a key, whole or not at all. Two processes may start at once: the first has made it, and both use that. */
export function makeKey(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(temporary, randomBytes(KEY_BYTES), { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkOnce(temporary, path);
  } finally {
    unlinkSync(temporary);
  }
}

/** Makes the key that is to be the next one, unless one is there from a change that was broken off. */
export const makeNextKey = (keyFile: string): void => makeKey(nextFile(keyFile));

/** The next key becomes the current one, the current one is kept as the former; repeating it after a kill is harmless. */
export function switchKeys(keyFile: string): void {
  if (!statSync(nextFile(keyFile), { throwIfNoEntry: false })) return;
  linkOnce(keyFile, oldFile(keyFile));
  renameSync(nextFile(keyFile), keyFile);
  syncFolder(keyFile);
}

/** Forgets the former key: nothing is written with it any more. */
export function dropOldKey(keyFile: string): void {
  rmSync(oldFile(keyFile), { force: true });
  syncFolder(keyFile);
}

function linkOnce(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function syncFolder(path: string): void {
  const folder = openSync(dirname(path), 'r');
  fsyncSync(folder);
  closeSync(folder);
}
