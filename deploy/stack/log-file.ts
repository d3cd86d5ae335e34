import { copyFileSync, mkdirSync, openSync, statSync, truncateSync } from 'node:fs';
import { dirname } from 'node:path';

/** Size (bytes) at which a log is moved aside; one older file is kept. */
const MAX_BYTES = 16 * 2 ** 20;

/**
 * Opens a log for a child process, in a folder that is made where somebody has removed it. Appending matters: after a rotation
 * the child goes on at the new end.
 */
export function openLog(path: string): number {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
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
