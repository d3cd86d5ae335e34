import { accessSync, constants, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** Where Linux keeps files in memory. */
const IN_MEMORY = '/dev/shm';
/** What the databases of a test run never come near, bytes; twice as much of memory stays for the tests themselves. */
const ROOM = 2 * 1024 ** 3;

/**
 * The folder for what a test run need not have on a disk: in memory where there is room, else the one for temporary files. A database for
 * each file of tests is some 300 files that are made and removed; in memory that is a third of the system's part of the work.
 */
export function memoryFolder(): string {
  try {
    accessSync(IN_MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    if (bavail * bsize >= ROOM && process.availableMemory() >= 3 * ROOM) return IN_MEMORY;
  } catch {
    // There is none, as on a Mac, or it is not for us.
  }
  return tmpdir();
}
