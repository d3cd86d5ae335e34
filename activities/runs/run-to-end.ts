import { setTimeout as delay } from 'node:timers/promises';
import { closeRun, shipBatch } from '../../control/runs/follow-run.ts';
import { openRun } from '../../control/runs/open-run.ts';
import { ERRORS, type ErrorCode, isMusterError } from '../../domain/errors.ts';
import type { Runner, RunSpec } from '../../domain/runs/runner.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import type { Db } from '../../store/connection/database.ts';
import type { NewRun } from '../../store/runs/runs.ts';
import { findRun, markRunStarted, type RunRow } from '../../store/runs/runs.ts';

export interface RunToEndDependencies {
  db: Db;
  clock(): Date;
  runner: Runner;
  /** Id of this machine's data directory. */
  hostId: string;
  /** Pauses between tries to start a run, in ms; a default of 16 s in all. */
  startPauses?: number[];
}

/** What the owner of a run decides and hears. */
export interface OwnedRun {
  run: Omit<NewRun, 'host'>;
  /** What is run; asked for only when the run is not started yet. */
  spec(): Promise<RunSpec>;
  /** A message for people while the run has not begun or goes on, with the code of the catalogue that says why, or null. */
  tell(progress: RunProgress): Promise<void>;
  /** Begins what is to go on while the run does; returns its stop. */
  whileRunning?(): () => Promise<void>;
  /** Begins the warnings of this run; empty by default. */
  name?: string;
}

export type RunProgress =
  | { step: 'waits_for_slot'; held: number; limit: number }
  | { step: 'start_failed'; detail: string; code: ErrorCode }
  | { step: 'running' };

/** Pauses between tries to start a run, in ms; when the last one has failed too, it is not chance. */
const START_PAUSES = [250, 500, 1_000, 2_000, 4_000, 8_000];

/**
 * Brings one run to its end: starts it unless it was started before, follows it, stores what it writes, closes it. Any number of workers may
 * take it up one after the other: the program runs once, and what it writes is stored once. The stored end is the answer; its owner reads it.
 * Throws `run_not_started` when it could not be started, and then it never starts later by itself.
 */
export async function runToEnd(deps: RunToEndDependencies, owned: OwnedRun, signal: AbortSignal): Promise<void> {
  const { db, runner, hostId } = deps;
  const { id } = owned.run;
  let run = await findRun(db, id);
  // A run that was started and whose claim is gone lost its disk: it must not start a second time.
  if (run === null || (run.state === 'created' && !(await runner.isStarted(id)))) {
    const spec = await owned.spec();
    run = await openRun(db, { ...owned.run, host: hostId }, deps.clock());
    await startRun(deps, run, spec, owned, signal);
  }
  if (run.state === 'created' || run.state === 'started') await followRun(deps, run, owned, signal);
}

/** Starts the run, several times if need be; gives up for good, so that it cannot start later by itself. */
async function startRun(
  { db, runner, clock, startPauses = START_PAUSES }: RunToEndDependencies,
  run: RunRow,
  spec: RunSpec,
  { tell }: OwnedRun,
  signal: AbortSignal,
): Promise<void> {
  for (const pause of [...startPauses, null]) {
    try {
      return await runner.start(spec, signal, (held, limit) => tell({ step: 'waits_for_slot', held, limit }));
    } catch (error) {
      if (!isMusterError(error) || error.code !== 'run_not_started') throw error;
      if (pause === null) {
        await runner.end(run.id);
        await closeRun(db, run, { exit: null, results: null, warnings: [] }, clock());
        throw error;
      }
      await tell({ step: 'start_failed', detail: error.detail, code: error.code });
      await delay(pause, undefined, { signal });
    }
  }
}

async function followRun(
  { db, runner, clock }: RunToEndDependencies,
  run: RunRow,
  { tell, whileRunning, name }: OwnedRun,
  signal: AbortSignal,
): Promise<void> {
  const prefix = name === undefined ? '' : `${name}: `;
  if (!(await runner.isStarted(run.id))) {
    const warnings = [`${prefix}the files of its run are gone`, ...(await endLost(runner, run.id, prefix))];
    return closeRun(db, run, { exit: null, results: null, warnings }, clock());
  }
  await markRunStarted(db, run.id, clock());
  await tell({ step: 'running' });
  let { cursor } = run;
  const stop = whileRunning?.();
  try {
    const end = await runner.watch(
      run.id,
      cursor,
      async (batch) => {
        await shipBatch(db, run, cursor, batch, clock());
        cursor = batch.cursor;
      },
      signal,
    );
    const warnings = end.exit === null ? await endLost(runner, run.id, prefix) : [];
    await closeRun(db, run, { ...end, warnings: [...end.warnings, ...warnings] }, clock());
  } catch (error) {
    // This run is not taken up again, so it must not go on.
    if (isMusterError(error) && !ERRORS[error.code].retryable) await runner.end(run.id);
    throw error;
  } finally {
    await stop?.();
  }
}

/**
 * Ends what a lost run has left working, before others may have its hosts: its launcher is gone, the playbook need not be. Returns
 * warnings: what belongs to another user cannot be ended by us, now or later. Throws what the machine refuses for the moment.
 */
async function endLost(runner: Runner, id: string, prefix: string): Promise<string[]> {
  try {
    await runner.end(id);
    if (!(await runner.mayHaveLeft(id))) return [];
    return [
      `${prefix}the launcher of its run was killed, and with it what watches over its processes: one that has shed the environment of the run (MUSTER_RUN_ID) may still be at work on this machine`,
    ];
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'code' in error) throw error;
    return [`${prefix}not all of its run could be ended: ${messageOf(error)}`];
  }
}
