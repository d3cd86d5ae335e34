import { type RunOwner, SESSION_KIND } from '../../domain/runs/owner.ts';
import { sessionOfRun } from '../../domain/sessions/run-id.ts';
import { isWrittenUuid } from '../../domain/text/uuid.ts';
import type { Db } from '../../store/connection/database.ts';
import { endedSessions } from '../../store/sessions/sweep.ts';

/** Sessions as owners of runs: open until they end. */
export function sessionOwner(db: Db): RunOwner {
  return {
    kind: SESSION_KIND,
    ownerOfRun: (runId) => (isWrittenUuid(sessionOfRun(runId)) ? sessionOfRun(runId) : null),
    open: async (ids) => {
      const over = new Set(await endedSessions(db, [...ids]));
      return new Set(ids.filter((id) => isWrittenUuid(id) && !over.has(id)));
    },
  };
}
