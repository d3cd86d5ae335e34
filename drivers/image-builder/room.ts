/**
 * A room: new namespaces with a root of its own in which something works for a job (`room.sh`). There is one at a time for each
 * job; it lives on without us and is found again by its claim.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { musterError } from '../../domain/errors.ts';
import { isAlive, livingProcesses, signal } from '../machine/process-table.ts';
import { boundingSet } from './capabilities.ts';
import { type JobFolder, makeJobFolder } from './job-folder.ts';

export interface RoomPlan {
  kind: 'shell' | 'tool';
  hostname: string;
  /** Read-only at /source. */
  source?: string;
  /** A folder to write to, at /output. */
  target?: string;
  /** Program and arguments, as they are called inside. */
  argv: readonly string[];
}

export interface RoomProcess {
  pid: number;
  start_time: string;
  boot_id: string;
}

const SCRIPT = join(import.meta.dirname, 'room.sh');
/** Folders of the machine's programs; they are the same ones inside. */
export const PROGRAM_PATH = '/usr/sbin:/usr/bin:/sbin:/bin';
/** Time after which a process that was killed is given up, ms: it hangs in the kernel. */
const KILL_PATIENCE_MS = 15_000;
const PAUSE_MS = 20;
/** A step dies with the process that watches its limits: nobody else would end it. A login lives on. */
export const LEASH = ['setpriv', '--pdeathsig', 'KILL', '--'];
/** Exit status of flock when something works for the job already. */
export const BUSY = 75;

/**
 * Starts a room. What a login says goes to the job's log, which begins anew; what a tool says comes by its pipes, since a full disk
 * takes no words.
 */
export async function startRoom(folder: JobFolder, plan: RoomPlan): Promise<ChildProcess> {
  await makeJobFolder(folder);
  const files = plan.source === undefined ? [] : [plan.source, ...(plan.target === undefined ? [] : [plan.target])];
  const log = await open(folder.log, 'w', 0o600);
  try {
    const [program = 'flock', ...words] = [
      ...(plan.kind === 'tool' ? LEASH : []),
      ...['flock', '--nonblock', '--conflict-exit-code', String(BUSY), '--no-fork', folder.lock],
      ...['unshare', '--mount', '--propagation', 'private', '--pid', '--uts', '--ipc', '--fork', '--kill-child=KILL'],
      ...['--', 'sh', SCRIPT, folder.path, plan.kind, plan.hostname, await boundingSet(plan.kind)],
      ...[...files, '--', ...plan.argv],
    ];
    const child = spawn(program, words, {
      detached: true,
      cwd: '/',
      stdio: plan.kind === 'tool' ? ['ignore', 'pipe', 'pipe'] : ['ignore', log.fd, log.fd],
      env: { PATH: PROGRAM_PATH, LC_ALL: 'C.UTF-8', MUSTER_IMAGE_JOB: folder.path },
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) => reject(musterError('image_builder_unavailable', `${program}: ${error.message}`)));
    });
    return child;
  } finally {
    await log.close();
  }
}

/** Process 1 of the job's room, while it is there. */
export async function findRoom(folder: JobFolder): Promise<RoomProcess | null> {
  const claim = await readClaim(folder);
  return claim !== null && (await isAlive(claim)) ? claim : null;
}

/**
 * Ends the job's room. Its process 1 becomes a zombie only when the kernel has ended every other process in it and taken away its
 * mounts, so nobody has to be looked for by the number of a namespace, which is another's as soon as that one is gone. Resolves
 * when nothing is left; safe to repeat.
 */
export async function endRoom(folder: JobFolder): Promise<void> {
  const deadline = Date.now() + KILL_PATIENCE_MS;
  for (;;) {
    const left = new Set(await outerProcesses(folder));
    const room = await findRoom(folder);
    if (room !== null) left.add(room.pid);
    if (left.size === 0) break;
    for (const pid of left) signal(pid, 'SIGKILL');
    if (Date.now() > deadline) {
      const names = [...left].slice(0, 10).join(', ');
      throw musterError('image_environment_failed', `processes of the image cannot be ended: ${names}`);
    }
    await delay(PAUSE_MS);
  }
  await rm(folder.claim, { force: true });
}

/** The last thing that a login said. */
export async function lastWords(folder: JobFolder): Promise<string> {
  return lastOf(await readFile(folder.log, 'utf8').catch(() => ''));
}

/** What counts of a long text of complaints: its last lines. */
export function lastOf(text: string): string {
  return text.trim().split('\n').slice(-3).join('; ').slice(-600);
}

async function readClaim(folder: JobFolder): Promise<RoomProcess | null> {
  try {
    const { pid, start_time, boot_id } = JSON.parse(await readFile(folder.claim, 'utf8')) as RoomProcess;
    return Number.isInteger(pid) && pid > 1 ? { pid, start_time: String(start_time), boot_id: String(boot_id) } : null;
  } catch {
    return null;
  }
}

/** Living processes of the machine that hold a room of this job; they were given the job's folder as a variable. */
async function outerProcesses(folder: JobFolder): Promise<number[]> {
  const needle = Buffer.from(`MUSTER_IMAGE_JOB=${folder.path}\0`);
  const found: number[] = [];
  for (const pid of (await livingProcesses()).keys()) {
    // One that may not be asked is none of ours.
    const environment = pid === process.pid ? null : await readFile(`/proc/${pid}/environ`).catch(() => null);
    if (environment?.includes(needle)) found.push(pid);
  }
  return found;
}
