import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { hasEnded, isAlive, readBootId, readStat } from '../../drivers/machine/process-table.ts';

/** Names one process for good: a pid alone is given to another process sooner or later. */
export const ProcessIdentitySchema = z.object({
  pid: z.number().int().positive(),
  /** Clock ticks after boot, field 22 of /proc/<pid>/stat. */
  start_time: z.string(),
  boot_id: z.string(),
});
export type ProcessIdentity = z.infer<typeof ProcessIdentitySchema>;

/** Identity of a running process, or null when there is none with that pid (a zombie has ended). */
export async function identify(pid: number): Promise<ProcessIdentity | null> {
  const stat = readStat(pid);
  return stat === null || hasEnded(stat) ? null : { pid, start_time: stat.startTime, boot_id: await readBootId() };
}

/**
 * Ends a process that is not our child: the signal, then KILL after `killAfterMs`. Answers when it is gone; at once
 * when the identity names no process of today.
 */
export async function endProcess(
  identity: ProcessIdentity,
  signal: NodeJS.Signals,
  killAfterMs: number,
): Promise<void> {
  if (!(await isAlive(identity))) return;
  send(identity.pid, signal);
  const deadline = Date.now() + killAfterMs;
  let killed = false;
  while (await isAlive(identity)) {
    if (!killed && Date.now() > deadline) {
      send(identity.pid, 'SIGKILL');
      killed = true;
    }
    await delay(20);
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
