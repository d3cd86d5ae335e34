import { RECONCILE_KIND } from '../../domain/operator/resource-words.ts';
import type { RunOwner } from '../../domain/runs/owner.ts';
import { ownerIdOfRun } from '../../domain/runs/owner.ts';
import type { Db } from '../../store/connection/database.ts';
import { listOpen } from '../../store/operator/reconciles.ts';

/** Reconciles as owners of runs: one that is over keeps no process. */
export function reconcileRuns(db: Db): RunOwner {
  return {
    kind: RECONCILE_KIND,
    ownerOfRun: (runId) => ownerIdOfRun(RECONCILE_KIND, runId),
    open: async (ids) => new Set(ids.length === 0 ? [] : await listOpen(db, ids)),
  };
}
