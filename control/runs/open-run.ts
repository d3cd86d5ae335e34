import type { Db } from '../../store/connection/database.ts';
import { ensureRun, type NewRun, type RunRow } from '../../store/runs/runs.ts';
import { createStream } from '../../store/runs/streams.ts';

/**
 * Records a run before anything of it is started, in one transaction with its stream where the stream is the run's own. Returns the run, as it
 * stands when it was recorded before.
 */
export async function openRun(db: Db, run: NewRun, now: Date): Promise<RunRow> {
  if (run.streamId !== run.id) return ensureRun(db, run, now);
  return db.transaction().execute(async (trx) => {
    const row = await ensureRun(trx, run, now);
    await createStream(trx, run.id);
    return row;
  });
}
