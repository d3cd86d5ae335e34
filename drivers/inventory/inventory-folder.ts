import { lstat, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { musterError } from '../../domain/errors.ts';

/** Makes sure that `dir` is a folder; a file or link of that name is replaced (cfs-flows 3). */
export async function prepareInventoryFolder(dir: string): Promise<void> {
  const found = await lstat(dir).catch(() => null);
  if (found?.isDirectory()) return;
  await rm(dir, { force: true });
  await mkdir(dir, { recursive: true, mode: 0o700 });
}

/** Throws `inventory_empty` when a `repo` target's additional inventory has brought nothing (cfs-flows 3.2). */
export async function requireRepositoryInventory(dir: string): Promise<void> {
  const names = await readdir(dir).catch(() => []);
  if (names.some((name) => !name.startsWith('.'))) return;
  const detail = 'The target is repo, but there is no additional inventory, or it has no file.';
  throw musterError('inventory_empty', detail);
}

/** An inventory plugin is named near the start of its file. */
const START_BYTES = 64 * 1024;
/** Repositories may hold much besides their inventory. */
const FILES_MAX = 1_000;

/** Whether additional inventory has a plugin, such as `constructed`, that may make groups out of the hosts that others bring. */
export async function computesGroups(dir: string): Promise<boolean> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile() && /\.(?:ya?ml|json)$/.test(entry.name));
  const own = files.filter(({ parentPath }) => !/\/(?:\.git|group_vars|host_vars)(?:\/|$)/.test(parentPath));
  for (const { parentPath, name } of own.slice(0, FILES_MAX)) {
    if (/^[ \t{]*["']?plugin["']?[ \t]*:/m.test(await startOf(join(parentPath, name)))) return true;
  }
  return own.length > FILES_MAX;
}

async function startOf(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(START_BYTES), 0, START_BYTES, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
