import { deleteReconciles, listEndedBefore } from '../../store/operator/old-reconciles.ts';
import { reconcileOwner } from '../../store/operator/reconciles.ts';
import { deleteGoneResources } from '../../store/operator/resources.ts';
import { forgetRuns } from '../runs/forget-runs.ts';
import type { OperatorSite } from './operator-site.ts';

/** Records of reconciles and resources that are no more are kept so long (ms). */
const KEPT_MS = 30 * 24 * 3_600_000;
/** Records that are removed in one go, at most. */
const MOST = 500;

/**
 * Removes the records of an operator that ended 30 days ago, with their runs, and the resources that went then. How many a resource keeps before
 * that is seen to at the end of each reconcile. Returns the number of records; each of several processes may do it.
 */
export async function retainReconciles({
  db,
  clock,
  operator,
}: Pick<OperatorSite, 'db' | 'clock' | 'operator'>): Promise<number> {
  const before = new Date(clock().getTime() - KEPT_MS);
  const old = await listEndedBefore(db, operator, before, MOST);
  for (const id of old) await forgetRuns(db, reconcileOwner(id));
  await deleteReconciles(db, old);
  await deleteGoneResources(db, operator, before);
  return old.length;
}
