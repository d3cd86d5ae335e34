import { setTimeout as delay } from 'node:timers/promises';
import type { ClaimFile } from '../../domain/runs/schema.ts';
import { isAlive, type Processes, processesOf, readBootId, signal } from '../machine/process-table.ts';
import {
  createExclusive,
  makeRunDirectory,
  type RunPaths,
  readClaim,
  readExit,
  removeSecrets,
  wasKept,
  writePrivate,
} from './run-files.ts';

/** Time a process has to end by itself after TERM. */
const GRACE_MS = 3_000;
/** Time the launcher has to write the end, which is to be on the disk, when its last child is gone. */
const LAUNCHER_GRACE_MS = 5_000;
/** Time the keeper has to go when the launcher and all others are gone. */
const KEEPER_GRACE_MS = 5_000;
/** Time after which processes that we may not signal are given up. */
const REFUSED_MS = 5_000;
/** Between two looks at the processes; each look reads all of /proc. */
const PAUSE_MS = 50;
/** A process that forks while the table is read may be missed once. */
const EMPTY_LOOKS = 2;
/** Stands for the start time in a claim that keeps every launcher from starting the run. */
const NEVER_BEGUN = 'ended before it began';

/**
 * Ends a run so that no process of it is left: TERM, 3 s, then KILL until none is found. A run that nobody has claimed
 * yet is claimed here, so that no launcher can start it any more. Safe to repeat. Throws when what is left belongs to
 * another user (a task that became one) and cannot be ended by us.
 */
export async function endRun(paths: RunPaths, runId: string): Promise<void> {
  await makeRunDirectory(paths);
  // Looked at first: on a full disk no new file can be made, but what runs can be ended.
  const claim = (await readClaim(paths)) ?? (await claimForNobody(paths));
  // Also where nothing began: a run whose files were lost may still have processes.
  await endProcesses(runId, claim);
  if (claim?.start_time === NEVER_BEGUN) await writeNeverBegun(paths);
  await removeSecrets(paths);
}

async function endProcesses(runId: string, claim: ClaimFile | null): Promise<void> {
  const began = Date.now();
  const told = new Set<number>();
  let left: Processes = new Map();
  let idleSince: number | null = null;
  let overSince: number | null = null;
  let empty = 0;
  // The launcher was there before every other process of its run.
  const since = claim !== null && claim.boot_id === (await readBootId()) ? Number(claim.start_time) || 0 : 0;
  for (;;) {
    const launcher = claim !== null && (await isAlive(claim)) ? claim.pid : null;
    const keeper = await livingKeeper(claim);
    left = await processesOf(runId, { launcher, keeper }, left, since);
    overSince = left.size === 0 && launcher === null ? (overSince ?? Date.now()) : null;
    // The keeper goes last, by itself, and says before that nothing is left.
    const isKept = keeper !== null && Date.now() - (overSince ?? 0) < KEEPER_GRACE_MS;
    empty = overSince !== null && !isKept ? empty + 1 : 0;
    if (empty === EMPTY_LOOKS) return;
    const passed = Date.now() - began;
    const late = passed >= GRACE_MS;
    const refused: number[] = [];
    for (const pid of left.keys()) {
      if ((late || !told.has(pid)) && !signal(pid, late ? 'SIGKILL' : 'SIGTERM')) refused.push(pid);
      told.add(pid);
    }
    if (refused.length > 0 && passed >= REFUSED_MS) {
      throw new Error(`processes of another user cannot be ended: ${refused.slice(0, 10).join(', ')}`);
    }
    // With no child left the launcher writes the exit file and goes; or it is about to start the child.
    idleSince = left.size > 0 ? null : (idleSince ?? Date.now());
    if (launcher !== null && idleSince !== null && Date.now() - idleSince > LAUNCHER_GRACE_MS) {
      signal(launcher, 'SIGKILL');
    }
    await delay(PAUSE_MS);
  }
}

/** The process that what a killed launcher leaves falls to, if it is there. */
async function livingKeeper(claim: ClaimFile | null): Promise<number | null> {
  // Everything descends of the first process, and this one is no keeper.
  if (claim?.keeper === undefined || claim.keeper.pid === 1 || claim.keeper.pid === process.pid) return null;
  return (await isAlive({ ...claim, ...claim.keeper })) ? claim.keeper.pid : null;
}

/**
 * Whether of a run without an end something may be left that nobody can find: its launcher was killed on this boot of the machine, and so
 * was its keeper, or it had none.
 */
export async function mayHaveLeft(paths: RunPaths): Promise<boolean> {
  const claim = await readClaim(paths);
  if (claim === null || claim.boot_id !== (await readBootId()) || claim.start_time === NEVER_BEGUN) return false;
  if ((await readExit(paths)) !== null || (await livingKeeper(claim)) !== null) return false;
  // A keeper that has seen the last of them go has left a note, and may have gone between the two looks.
  return !(await wasKept(paths));
}

/** Claims the run so that nobody starts it; answers the claim that stands. */
async function claimForNobody(paths: RunPaths): Promise<ClaimFile | null> {
  const claim: ClaimFile = { pid: process.pid, start_time: NEVER_BEGUN, boot_id: await readBootId() };
  return (await createExclusive(paths.claim, JSON.stringify(claim))) ? claim : readClaim(paths);
}

/** Also for a run that was kept from beginning by somebody who died before writing this. */
async function writeNeverBegun(paths: RunPaths): Promise<void> {
  if ((await readExit(paths)) !== null) return;
  await writePrivate(paths.exit, JSON.stringify({ code: 143, signal: 'SIGTERM', ended_at: new Date().toISOString() }));
}
