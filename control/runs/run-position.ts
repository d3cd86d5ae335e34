import { musterError } from '../../domain/errors.ts';
import type { Db } from '../../store/connection/database.ts';
import { findRun, type RunRow } from '../../store/runs/runs.ts';

/** How far a run is stored: where its sender goes on. */
export interface RunPosition {
  state: RunRow['state'];
  /** Lines of its events, bytes of its output. */
  lines: number;
  output_bytes: number;
}

export const positionOf = ({ state, cursor }: RunRow): RunPosition => ({
  state,
  lines: cursor.lines,
  output_bytes: cursor.outputBytes,
});

/** How far the run is stored. */
export async function runPosition(db: Db, runId: string): Promise<RunPosition> {
  return positionOf(presentRun(await findRun(db, runId)));
}

/** The run, or `not_found` when it was removed since its token was looked at. */
export function presentRun(run: RunRow | null): RunRow {
  if (run === null) throw musterError('not_found', 'The run is gone');
  return run;
}
