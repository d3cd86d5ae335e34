import { musterError } from '../../domain/errors.ts';
import { isRunOver } from '../../domain/runs/run-states.ts';
import type { ResultsFile } from '../../domain/runs/schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { insertHostResults } from '../../store/runs/host-results.ts';
import { holdRun } from '../../store/runs/runs.ts';
import { hostResultsOf } from './follow-run.ts';
import { positionOf, presentRun, type RunPosition } from './run-position.ts';

/**
 * Stores what the hosts of a remote run reached; a host whose result is stored keeps it, so it may be sent again. They come
 * before the exit status: of an ended run they are `run_ended`, since its layer may be recorded already.
 */
export async function takeResults(db: Db, runId: string, results: ResultsFile): Promise<RunPosition> {
  return db.transaction().execute(async (trx) => {
    const run = presentRun(await holdRun(trx, runId));
    if (isRunOver(run.state)) {
      throw musterError('run_ended', 'The run has ended; results come before the exit status');
    }
    await insertHostResults(trx, { ...run, runId }, hostResultsOf(results));
    return positionOf(run);
  });
}
