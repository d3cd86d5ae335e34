import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
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
