import { musterError } from '../../domain/errors.ts';
import type { ExitFile } from '../../domain/runs/schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { findRun } from '../../store/runs/runs.ts';
import { closeRun } from './follow-run.ts';
import { presentRun, type RunPosition, runPosition } from './run-position.ts';

/**
 * Ends a remote run with its exit status, once. The same status again is accepted; another one, or one of a run that was found
 * lost, is `run_ended`. Events and output that are still on their way are taken until the token is void.
 */
export async function takeExit(
  { db, clock }: { db: Db; clock(): Date },
  runId: string,
  exit: ExitFile,
): Promise<RunPosition> {
  await closeRun(db, presentRun(await findRun(db, runId)), { exit, results: null, warnings: [] }, clock());
  const run = presentRun(await findRun(db, runId));
  if (run.state !== 'ended' || run.exitCode !== exit.code) {
    throw musterError('run_ended', `The run ended before: ${run.state}, exit status ${run.exitCode ?? 'unknown'}`);
  }
  return runPosition(db, runId);
}
