/** Runs playbooks as processes of this machine. The run lives on without us; we only start, follow and end it. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isFolderName } from '../../domain/runs/folder-name.ts';
import type { Runner } from '../../domain/runs/runner.ts';
import { isAlive } from '../machine/process-table.ts';
import { endRun, mayHaveLeft } from './end-run.ts';
import { readClaim, readExit, removeRunDirectory, runPaths } from './run-files.ts';
import { RunSlots } from './run-slots.ts';
import { type LauncherOptions, startRun } from './start-run.ts';
import { watchRun } from './watch-run.ts';

export interface LocalRunnerOptions extends LauncherOptions {
  runsDir: string;
  /** Playbooks at once. */
  slots: number;
}

/** How often a run that waits looks whether those before it are still there, and the time between the looks of all that wait. */
const LOOK_MS = 2_000;
const LOOK_AGAIN_MS = LOOK_MS / 2;

/** Makes the runner and takes over the runs that are there already, so that they count. */
export async function createLocalRunner({ runsDir, slots: limit, ...launcher }: LocalRunnerOptions): Promise<Runner> {
  const slots = new RunSlots(limit);
  /** Runs that have a slot and are about to be claimed. */
  const starting = new Set<string>();
  /** Gives back the slots of runs that ended without our seeing it: another worker followed them, or nobody did. */
  const releaseEnded = async () => {
    for (const runId of slots.held) {
      if (!starting.has(runId) && !(await isLive(runsDir, runId)) && !starting.has(runId)) slots.release(runId);
    }
  };
  let lastLook = Number.NEGATIVE_INFINITY;
  /** However many runs wait, one look serves all of them. */
  const lookForAll = async () => {
    if (performance.now() - lastLook < LOOK_AGAIN_MS) return;
    lastLook = performance.now();
    await releaseEnded();
  };
  const acquire = async (runId: string, signal: AbortSignal) => {
    const look = setInterval(() => lookForAll().catch(() => undefined), LOOK_MS);
    try {
      await slots.acquire(runId, signal);
    } finally {
      clearInterval(look);
    }
  };
  const runner: Runner = {
    start: async (spec, signal, onWait) => {
      const { runId } = spec;
      const paths = runPaths(runsDir, runId);
      if ((await readClaim(paths)) !== null) {
        slots.adopt(runId);
        return;
      }
      if (slots.full) await releaseEnded();
      if (slots.full) await onWait(slots.held.length, slots.limit);
      starting.add(runId);
      try {
        await acquire(runId, signal);
        await startRun(paths, spec, launcher).catch((error) => {
          slots.release(runId);
          throw error;
        });
      } finally {
        starting.delete(runId);
      }
    },
    isStarted: async (runId) => (await readClaim(runPaths(runsDir, runId))) !== null,
    watch: async (runId, cursor, take, signal) => {
      const end = await watchRun(runPaths(runsDir, runId), cursor, take, signal);
      slots.release(runId);
      return end;
    },
    end: async (runId) => {
      await endRun(runPaths(runsDir, runId), runId);
      slots.release(runId);
    },
    mayHaveLeft: (runId) => mayHaveLeft(runPaths(runsDir, runId)),
    live: () => liveRuns(runsDir),
    list: () => namesIn(runsDir),
    remove: async (name) => {
      if (isFolderName(name)) return removeRunDirectory(runPaths(runsDir, name));
      // What is named as no run is was put there by hand; only what really stands in the folder by that name leads nowhere else.
      if ((await namesIn(runsDir)).includes(name)) await rm(join(runsDir, name), { recursive: true, force: true });
    },
  };
  for (const runId of await liveRuns(runsDir)) slots.adopt(runId);
  return runner;
}

function namesIn(runsDir: string): Promise<string[]> {
  return readdir(runsDir).catch(() => []);
}

async function liveRuns(runsDir: string): Promise<string[]> {
  const names = (await namesIn(runsDir)).filter(isFolderName);
  const live: string[] = [];
  for (const name of names) if (await isLive(runsDir, name)) live.push(name);
  return live;
}

/** Whether the run's launcher is there; of what is no run's folder it is not. */
async function isLive(runsDir: string, runId: string): Promise<boolean> {
  const paths = runPaths(runsDir, runId);
  const claim = await readClaim(paths).catch(() => null);
  return claim !== null && (await readExit(paths)) === null && (await isAlive(claim));
}
