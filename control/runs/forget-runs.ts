import type { Owner } from '../../domain/runs/owner.ts';
import type { Db } from '../../store/connection/database.ts';
import { deleteRuns } from '../../store/runs/runs.ts';

/**
 * Removes the runs of an owner: host results, tokens, rows, and the streams that are a run's own. Their files go with the next clean-up of
 * their machine, because the rows are gone. Repeating it is harmless. Returns the ids of the runs.
 */
export async function forgetRuns(db: Db, owner: Owner): Promise<string[]> {
  return db.transaction().execute((trx) => deleteRuns(trx, owner));
}
