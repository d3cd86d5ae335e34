import type { Kysely } from 'kysely';
import { musterError } from '../../domain/errors.ts';
import { findRun, type RunRow } from '../../store/runs/runs.ts';
import type { Database } from '../../store/tables.ts';

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
export async function runPosition(db: Kysely<Database>, runId: string): Promise<RunPosition> {
  return positionOf(presentRun(await findRun(db, runId)));
}

/** The run, or `not_found` when it was removed since its token was looked at. */
export function presentRun(run: RunRow | null): RunRow {
  if (run === null) throw musterError('not_found', 'The run is gone');
  return run;
}
