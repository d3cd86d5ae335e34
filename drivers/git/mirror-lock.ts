import { mkdir, readdir, readFile, readlink, rmdir, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;

/** A lock that is held; `tookOver` says that a former holder died without giving it back. */
export interface HeldLock {
  tookOver: boolean;
  release(): Promise<void>;
}

/**
 * Takes the lock that the directory `dir` stands for, across processes; waits for it, or with `wait: false` answers `null`
 * when somebody holds it.
 *
 * Each contender makes the next numbered entry, a symbolic link whose text names its owner (made in one atomic step with its
 * content). The smallest number with a living owner holds the lock. A number below one that exists is given back at once, so nobody
 * can step in front of a holder. Only the holder removes the entries of the dead, hence never a fresh one by mistake.
 */
export async function lockMirror(
  dir: string,
  options: { signal: AbortSignal; wait: boolean },
): Promise<HeldLock | null> {
  const owner = await ownIdentity();
  const mine = await enter(dir, owner, options.signal);
  const release = async (): Promise<void> => {
    await unlink(join(dir, String(mine))).catch(ignoreMissing);
    await rmdir(dir).catch(() => undefined);
  };
  try {
    for (;;) {
      const ahead = (await numbers(dir)).filter((number) => number < mine);
      const alive = await Promise.all(ahead.map((number) => isHeld(join(dir, String(number)))));
      if (!alive.includes(true)) {
        for (const number of ahead) await unlink(join(dir, String(number))).catch(ignoreMissing);
        return { tookOver: ahead.length > 0, release };
      }
      if (!options.wait) {
        await release();
        return null;
      }
      await sleep(POLL_MS, undefined, { signal: options.signal });
    }
  } catch (error) {
    await release();
    options.signal.throwIfAborted();
    throw error;
  }
}

async function enter(dir: string, owner: string, signal: AbortSignal): Promise<number> {
  for (;;) {
    signal.throwIfAborted();
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const mine = Math.max(0, ...(await numbers(dir))) + 1;
    const entry = join(dir, String(mine));
    try {
      await symlink(owner, entry);
    } catch (error) {
      if (isCode(error, 'EEXIST') || isCode(error, 'ENOENT')) continue;
      throw error;
    }
    if ((await numbers(dir)).every((number) => number <= mine)) return mine;
    await unlink(entry).catch(ignoreMissing);
  }
}

async function numbers(dir: string): Promise<number[]> {
  try {
    return (await readdir(dir)).filter((name) => /^\d+$/.test(name)).map(Number);
  } catch (error) {
    if (isCode(error, 'ENOENT')) return [];
    throw error;
  }
}

async function isHeld(entry: string): Promise<boolean> {
  try {
    const [pid = '', startTime, bootId] = (await readlink(entry)).split(':');
    return bootId === (await bootIdentity()) && startTime === (await startTimeOf(pid));
  } catch (error) {
    if (isCode(error, 'ENOENT')) return false;
    throw error;
  }
}

async function ownIdentity(): Promise<string> {
  return `${process.pid}:${await startTimeOf(String(process.pid))}:${await bootIdentity()}`;
}

async function bootIdentity(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
}

/** Start time of a living process in clock ticks since boot (field 22 of its stat), `null` when it is gone or a zombie. */
async function startTimeOf(pid: string): Promise<string | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

function isCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}

function ignoreMissing(error: unknown): void {
  if (!isCode(error, 'ENOENT')) throw error;
}
