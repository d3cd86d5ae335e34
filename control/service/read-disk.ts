import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { diskOf } from '../../domain/service/system-checks.ts';
import type { SystemDisk } from '../../domain/service/system-schema.ts';

type Look = (path: string) => Promise<Pick<StatsFs, 'bavail' | 'blocks' | 'bsize'>>;

/** So long a disk may take to answer, ms. */
const WAIT_MS = 1_000;

/**
 * Looks that go on. A folder of a network may not answer for hours, and each look at it keeps a thread of this process, of which there are few: a folder has
 * a single look at a time.
 */
const looks = new Map<string, ReturnType<Look>>();

/** Returns the disk of a folder; null when it cannot be read, or does not answer in 1 s. */
export async function readDisk(path: string, look: Look = statfs, waitMs = WAIT_MS): Promise<SystemDisk | null> {
  const answered = new AbortController();
  const late = delay(waitMs, null, { signal: answered.signal });
  late.catch(() => undefined);
  try {
    const found = await Promise.race([lookOnce(path, look), late]);
    return found === null ? null : diskOf(path, found.bavail * found.bsize, found.blocks * found.bsize);
  } catch {
    return null;
  } finally {
    answered.abort();
  }
}

function lookOnce(path: string, look: Look): ReturnType<Look> {
  const running = looks.get(path);
  if (running !== undefined) return running;
  const found = look(path).finally(() => looks.delete(path));
  looks.set(path, found);
  return found;
}
