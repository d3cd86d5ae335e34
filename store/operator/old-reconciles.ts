/** Records of reconciles that have ended, and which of them and of their runs are kept no longer. */
import type { Db } from '../connection/database.ts';
import type { ReconcileRow } from './reconciles.ts';

/** Returns the ids of the records of a resource beyond its newest `keep`. */
export async function listOldReconciles(db: Db, resourceId: string, keep: number): Promise<string[]> {
  const rows = await db
    .selectFrom('operator_reconciles')
    .select('id')
    .where('resource_id', '=', resourceId)
    .where('ended_at', 'is not', null)
    .orderBy('started_at', 'desc')
    .offset(keep)
    .limit(100)
    .execute();
  return rows.map(({ id }) => id);
}

/** Returns the ids of the records of an operator that ended before a time, the oldest first, at most `limit`. */
export async function listEndedBefore(db: Db, operator: string, before: Date, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('operator_reconciles')
    .select('id')
    .where('operator', '=', operator)
    .where('ended_at', '<', before)
    .orderBy('ended_at')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Returns the newest 50 runs of a resource on the machine of a reconcile, without its newest `keep`. */
export async function listRunsBeyond(
  db: Db,
  { resourceId, machine }: Pick<ReconcileRow, 'resourceId' | 'machine'>,
  keep: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('operator_reconciles')
    .select('run_id')
    .where('resource_id', '=', resourceId)
    .where('machine', '=', machine)
    .where('run_id', 'is not', null)
    .orderBy('started_at', 'desc')
    .offset(keep)
    .limit(50)
    .execute();
  return rows.flatMap(({ run_id: id }) => (id === null ? [] : [id]));
}

/** Removes records. */
export async function deleteReconciles(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await db.deleteFrom('operator_reconciles').where('id', 'in', ids).execute();
}
