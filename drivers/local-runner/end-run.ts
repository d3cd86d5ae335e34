import { setTimeout as delay } from 'node:timers/promises';
import { isAlive, processesOf, readBootId, signal } from './process-table.ts';
import { createExclusive, makeRunDirectory, type RunPaths, readClaim, writePrivate } from './run-files.ts';

/** Time a process has to end by itself after TERM. */
const GRACE_MS = 3_000;
/** Time the launcher has to write the end when its last child is gone. */
const LAUNCHER_GRACE_MS = 1_000;

/**
 * Ends a run so that no process of it is left: TERM, 3 s, then KILL until none is found. A run that nobody has claimed
 * yet is claimed here, so that no launcher can start it any more. Safe to repeat.
 */
export async function endRun(paths: RunPaths, runId: string): Promise<void> {
  await makeRunDirectory(paths);
  if (await claimForNobody(paths)) {
    await writePrivate(
      paths.exit,
      JSON.stringify({ code: 143, signal: 'SIGTERM', ended_at: new Date().toISOString() }),
    );
    return;
  }
  const deadline = Date.now() + GRACE_MS;
  const told = new Set<number>();
  let idleSince: number | null = null;
  for (;;) {
    const claim = await readClaim(paths);
    const launcher = claim !== null && (await isAlive(claim)) ? claim.pid : null;
    const left = (await processesOf(runId, launcher)).filter((pid) => pid !== launcher);
    if (left.length === 0 && launcher === null) return;
    const late = Date.now() >= deadline;
    for (const pid of left) {
      if (late) signal(pid, 'SIGKILL');
      else if (!told.has(pid)) signal(pid, 'SIGTERM');
      told.add(pid);
    }
    // With no child left the launcher writes the exit file and goes; or it is about to start the child.
    idleSince = left.length > 0 ? null : (idleSince ?? Date.now());
    if (launcher !== null && idleSince !== null && Date.now() - idleSince > LAUNCHER_GRACE_MS) {
      signal(launcher, 'SIGKILL');
    }
    await delay(late ? 20 : 50);
  }
}

async function claimForNobody(paths: RunPaths): Promise<boolean> {
  const claim = { pid: process.pid, start_time: 'ended before it began', boot_id: await readBootId() };
  return createExclusive(paths.claim, JSON.stringify(claim));
}
