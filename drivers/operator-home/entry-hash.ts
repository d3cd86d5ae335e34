import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { WatchEntry } from '../../domain/operator/watch-entry.ts';

/** Folders of a home whose files runs are made of. */
const FOLDERS = ['playbooks', 'roles', 'collections'];

/**
 * Returns a hash of an entry and of all files that its runs are made of: the home's playbooks, roles and collections, and what the entry names.
 * Resources run again after a start with another hash.
 */
export async function entryHash(entry: WatchEntry, home: string): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(entry));
  const { playbook, role, finalizer } = entry;
  const named = [playbook, role, finalizer?.playbook ?? null, finalizer?.role ?? null].filter((path) => path !== null);
  for (const path of [...FOLDERS.map((folder) => join(home, folder)), ...named]) {
    for (const file of await filesBelow(path)) hash.update(`\0${file}\0`).update(await readFile(file));
  }
  return hash.digest('hex').slice(0, 32);
}

async function filesBelow(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => null);
  if (found === null) return [];
  if (!found.isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
