import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../find-program.ts';

const CACHE = process.env.MUSTER_CACHE_DIR ?? join(homedir(), '.cache', 'muster');

/** Path of the Temporal program: named by the set-up, else PATH, else the cache; `null` when there is none. */
export function temporalBinary(): string | null {
  return process.env.MUSTER_TEMPORAL_BINARY ?? findProgram('temporal') ?? cachedBinary();
}

function cachedBinary(): string | null {
  try {
    const folder = readdirSync(CACHE).find((name) => /^temporal-[0-9.]+$/.test(name));
    return folder === undefined ? null : join(CACHE, folder, 'temporal');
  } catch {
    return null;
  }
}

/** Why no real Temporal server can be started here, `null` when one can. */
export function temporalMissing(): string | null {
  return temporalBinary() === null ? 'the Temporal program is not installed: run through "npm test"' : null;
}
