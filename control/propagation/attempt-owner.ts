import { ownerIdOfRun, type RunOwner, runIdOfOwner } from '../../domain/runs/owner.ts';
import { isUuid } from '../../domain/text/uuid.ts';
import type { Db } from '../../store/connection/database.ts';
import { findOpenAttempts, listUnverified } from '../../store/propagation/plan-attempts.ts';
import { confirmEnd } from './release-leases.ts';

/** Word of this lane for the owners of its runs. */
export const ATTEMPT = 'attempt';

/** Runs whose end one clean-up confirms. */
const MOST_UNSEEN = 100;

/** Attempts as owners of runs: a run whose attempt has ended is ended by the clean-up of its machine, which confirms the end. */
export function attemptOwner(db: Db): RunOwner {
  return {
    kind: ATTEMPT,
    ownerOfRun: (runId) => ownerIdOfRun(ATTEMPT, runId),
    open: (ids) => findOpenAttempts(db, ids.filter(isUuid)),
    unseen: {
      list: async (machine) => {
        const attempts = await listUnverified(db, machine, MOST_UNSEEN);
        return attempts.map((id) => runIdOfOwner({ kind: ATTEMPT, id }, 1));
      },
      gone: async (runId) => {
        const attempt = ownerIdOfRun(ATTEMPT, runId);
        if (attempt !== null) await db.transaction().execute((trx) => confirmEnd(trx, attempt));
      },
    },
  };
}
