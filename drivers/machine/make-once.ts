import { randomUUID } from 'node:crypto';
import { link, unlink, writeFile } from 'node:fs/promises';

/**
 * Makes a file for its owner alone with its whole text, flushed, unless there is one; of several that make it at once one is the first. `prepare` is done to it before
 * anybody sees it.
 */
export async function makeOnce(path: string, text: string, prepare?: (path: string) => Promise<void>): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, text, { mode: 0o600, flush: true });
    await prepare?.(temporary);
    await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
}
