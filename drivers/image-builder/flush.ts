import { open } from 'node:fs/promises';

/** Resolves when a file, or the names in a folder, are on the disk. */
export async function flush(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
