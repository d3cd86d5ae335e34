import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { PostgresPrograms } from './postgres-cluster.ts';
import { canReach, type User } from './postgres-user.ts';

/** Where programs are put that another user has to run. */
const SHARED = '/var/cache/muster';

/**
 * The programs where the user can run them. Below a folder that is closed to others (a checkout in /root) a capability lets
 * it read, but Postgres asks the kernel whether it may execute its own programs, and that answer ignores capabilities: so they
 * are copied once for each version to a folder that everybody may pass through.
 */
export function reachablePrograms(
  programs: PostgresPrograms,
  version: string,
  user: User | undefined,
): PostgresPrograms {
  if (user === undefined || canReach(programs.postgres, user)) return programs;
  const native = dirname(dirname(programs.postgres));
  const copy = join(SHARED, `postgres-${version}`);
  if (!existsSync(copy)) {
    mkdirSync(SHARED, { recursive: true, mode: 0o755 });
    const unfinished = mkdtempSync(`${copy}.new-`);
    try {
      cpSync(native, join(unfinished, 'native'), { recursive: true, verbatimSymlinks: true });
      renameSync(join(unfinished, 'native'), copy);
    } catch (error) {
      // Another start was quicker.
      if (!existsSync(copy)) throw error;
    } finally {
      rmSync(unfinished, { recursive: true, force: true });
    }
  }
  const moved = (path: string) => join(copy, relative(native, path));
  return { postgres: moved(programs.postgres), initdb: moved(programs.initdb) };
}
