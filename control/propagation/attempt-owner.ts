import { ownerIdOfRun, type RunOwner } from '../../domain/runs/owner.ts';
import { isUuid } from '../../domain/text/uuid.ts';
import type { Db } from '../../store/connection/database.ts';
import { findOpenAttempts } from '../../store/propagation/plan-attempts.ts';

/** Word of this lane for the owners of its runs. */
export const ATTEMPT = 'attempt';

/** Attempts as owners of runs: a run whose attempt has ended is ended by the clean-up of its machine. */
export function attemptOwner(db: Db): RunOwner {
  return {
    kind: ATTEMPT,
    ownerOfRun: (runId) => ownerIdOfRun(ATTEMPT, runId),
    open: (ids) => findOpenAttempts(db, ids.filter(isUuid)),
  };
}
