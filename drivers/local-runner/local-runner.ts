/** Runs playbooks as processes of this machine. The run lives on without us; we only start, follow and end it. */
import { readdir } from 'node:fs/promises';
import type { Runner } from '../../domain/runs/runner.ts';
import { endRun } from './end-run.ts';
import { isAlive } from './process-table.ts';
import { readClaim, readExit, removeRunDirectory, runPaths } from './run-files.ts';
import { RunSlots } from './run-slots.ts';
import { type LauncherOptions, startRun } from './start-run.ts';
import { watchRun } from './watch-run.ts';

export interface LocalRunnerOptions extends LauncherOptions {
  runsDir: string;
  /** Playbooks at once. */
  slots: number;
}

/** Makes the runner and takes over the runs that are there already, so that they count. */
export async function createLocalRunner({ runsDir, slots: limit, ...launcher }: LocalRunnerOptions): Promise<Runner> {
  const slots = new RunSlots(limit);
  const runner: Runner = {
    start: async (spec, signal, onWait) => {
      const paths = runPaths(runsDir, spec.runId);
      if ((await readClaim(paths)) !== null) {
        slots.adopt(spec.runId);
        return;
      }
      if (slots.full) await onWait(slots.held, slots.limit);
      await slots.acquire(spec.runId, signal);
      try {
        await startRun(paths, spec, launcher);
      } catch (error) {
        slots.release(spec.runId);
        throw error;
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
    live: () => liveRuns(runsDir),
    list: () => readdir(runsDir).catch(() => []),
    remove: (runId) => removeRunDirectory(runPaths(runsDir, runId)),
  };
  for (const runId of await liveRuns(runsDir)) slots.adopt(runId);
  return runner;
}

async function liveRuns(runsDir: string): Promise<string[]> {
  const names = await readdir(runsDir).catch(() => []);
  const live: string[] = [];
  for (const name of names) {
    const paths = runPaths(runsDir, name);
    const claim = await readClaim(paths).catch(() => null);
    if (claim === null || (await readExit(paths).catch(() => null)) !== null) continue;
    if (await isAlive(claim)) live.push(name);
  }
  return live;
}
