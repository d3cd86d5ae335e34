import { copyFileSync, openSync, statSync, truncateSync } from 'node:fs';

/** Size (bytes) at which a log is moved aside; one older file is kept. */
const MAX_BYTES = 16 * 2 ** 20;

/** Opens a log for a child process. Appending matters: after a rotation the child goes on at the new end. */
export function openLog(path: string): number {
  return openSync(path, 'a', 0o600);
}

/** Copies a log that has grown too large to `<path>.1` and empties it, since its writers keep it open. */
export function rotateLog(path: string, maxBytes = MAX_BYTES): void {
  try {
    if (statSync(path).size <= maxBytes) return;
    copyFileSync(path, `${path}.1`);
    truncateSync(path);
  } catch {
    // No log yet, or no room for the copy: the next round tries again.
  }
}
