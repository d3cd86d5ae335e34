/** Questions to /proc: is that process still the same one, and which processes belong to a run. */
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setImmediate as othersFirst } from 'node:timers/promises';

interface ProcessStat {
  pid: number;
  parent: number;
  state: string;
  /** A zombie keeps the place of those that still work, or end. */
  threads: number;
  /** Clock ticks after boot at which it started: with the pid it names a process for good. */
  startTime: string;
}

/**
 * Fields of /proc/<pid>/stat, or null when there is no such process. The name may contain blanks and brackets. The kernel answers from
 * memory and waits for nobody, so it is read at once: by a promise it takes ten times the work.
 */
export function readStat(pid: number): ProcessStat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const rest = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state = '', parent] = rest;
    return { pid, state, parent: Number(parent), threads: Number(rest[17]), startTime: rest[19] ?? '' };
  } catch {
    return null;
  }
}

/** Whether nothing of the process works any more; it may still be in the table. */
export function hasEnded({ state, threads }: Pick<ProcessStat, 'state' | 'threads'>): boolean {
  return state === 'X' || (state === 'Z' && threads <= 1);
}

let bootId: string | undefined;

/** Identity of this boot of the machine: a claim from before a reboot names no process of today. */
export async function readBootId(): Promise<string> {
  bootId ??= (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
  return bootId;
}

/** Whether the process that is named by pid, start time and boot still runs; a zombie does not, unless other threads of it do. */
export async function isAlive(process: { pid: number; start_time: string; boot_id: string }): Promise<boolean> {
  if (process.boot_id !== (await readBootId())) return false;
  const stat = readStat(process.pid);
  return stat !== null && stat.startTime === process.start_time && !hasEnded(stat);
}

const SIGKILL_BIT = 1n << 8n;
/** The kernel's mark of a process that ends: it listens no more, although it may be seen for some time. */
const EXITING_FLAG = 0x4;

/** Whether the process was killed, or ends: for the time until it is gone it looks like one that works. */
export async function isEnding(pid: number): Promise<boolean> {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const pending = [...status.matchAll(/^(?:Sig|Shd)Pnd:\t([0-9a-f]+)$/gm)];
    if (pending.some(([, mask]) => (BigInt(`0x${mask}`) & SIGKILL_BIT) !== 0n)) return true;
    const text = await readFile(`/proc/${pid}/stat`, 'utf8');
    const flags = Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[6]);
    return (flags & EXITING_FLAG) !== 0;
  } catch {
    return true;
  }
}

/** Processes by number, each with its start time: with both it is the same one later. */
export type Processes = Map<number, string>;

/** So many processes are looked at before others have their turn: 1 to 2 ms. */
const IN_A_ROW = 100;

/** All living processes. */
export async function livingProcesses(): Promise<Map<number, ProcessStat>> {
  const living = new Map<number, ProcessStat>();
  let looked = 0;
  for (const entry of readdirSync('/proc')) {
    if (!/^[0-9]+$/.test(entry)) continue;
    looked += 1;
    if (looked % IN_A_ROW === 0) await othersFirst();
    const stat = readStat(Number(entry));
    if (stat !== null && !hasEnded(stat)) living.set(stat.pid, stat);
  }
  return living;
}

/**
 * Processes of a run: those of `known` that are still there, the descendants of these, of the launcher and of its keeper, and every process
 * that carries the run's id in its environment, whoever its parent is by now (`setsid`, async tasks, a killed launcher). One
 * that was seen once is known from then on, also when its environment says nothing and its parents are gone. Zombies, the launcher
 * itself and its keeper are left out. `since`: clock ticks after boot at which the run began, if known: what is older is asked nothing.
 */
export async function processesOf(
  runId: string,
  { launcher = null, keeper = null }: { launcher?: number | null; keeper?: number | null },
  known: Processes,
  since = 0,
): Promise<Processes> {
  const stats = await livingProcesses();
  const children = new Map<number, number[]>();
  for (const { pid, parent } of stats.values()) children.set(parent, [...(children.get(parent) ?? []), pid]);
  const found: Processes = new Map();
  const visit = (pid: number) => {
    const stat = stats.get(pid);
    if (stat === undefined || found.has(pid) || pid === process.pid) return;
    found.set(pid, stat.startTime);
    for (const child of children.get(pid) ?? []) visit(child);
  };
  for (const root of [keeper, launcher]) if (root !== null) visit(root);
  for (const [pid, startTime] of known) if (stats.get(pid)?.startTime === startTime) visit(pid);
  const needle = Buffer.from(`MUSTER_RUN_ID=${runId}\0`);
  for (const { pid, startTime } of stats.values()) {
    if (pid === process.pid || found.has(pid) || Number(startTime) < since) continue;
    if (await hasInEnvironment(pid, needle)) visit(pid);
  }
  for (const root of [keeper, launcher]) if (root !== null) found.delete(root);
  return found;
}

/** A process in the middle of a change of its memory keeps whoever asks waiting, so here others go on meanwhile. */
async function hasInEnvironment(pid: number, needle: Buffer): Promise<boolean> {
  try {
    return (await readFile(`/proc/${pid}/environ`)).includes(needle);
  } catch {
    return false;
  }
}

/** Sends a signal; a process that is gone meanwhile is no error. False when we may not: it belongs to another user. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EPERM') return false;
    if (code !== 'ESRCH') throw error;
  }
  return true;
}
