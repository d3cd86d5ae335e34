import type { Kysely } from 'kysely';
import type { Owner } from '../../domain/runs/owner.ts';
import { deleteRuns } from '../../store/runs/runs.ts';
import type { Database } from '../../store/tables.ts';

/**
 * Removes the runs of an owner: host results, tokens, rows, and the streams that are a run's own. Their files go with the next clean-up of
 * their machine, because the rows are gone. Repeating it is harmless. Returns the ids of the runs.
 */
export async function forgetRuns(db: Kysely<Database>, owner: Owner): Promise<string[]> {
  return db.transaction().execute((trx) => deleteRuns(trx, owner));
}
