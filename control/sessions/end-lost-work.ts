import type { Db } from '../../store/connection/database.ts';
import { markOpenRunsLost, sessionHasRuns } from '../../store/runs/runs.ts';
import { openSessions } from '../../store/sessions/sweep.ts';
import { writeEnd } from '../../store/sessions/write-end.ts';

export interface LostWork {
  sessions: string[];
  runs: number;
}

/**
 * Ends in the records what was under way when they were saved: a run goes on at the original or not at all, never here, so it is lost,
 * and a session that had begun one is `unknown`. No process is looked for or ended. A session without a run begins anew by itself.
 * @param takenAt when the records were saved
 */
export async function endLostWork(db: Db, takenAt: string, now: Date): Promise<LostWork> {
  const runs = await markOpenRunsLost(db, now);
  const sessions: string[] = [];
  for (const session of await openSessions(db, now)) {
    if (!(await sessionHasRuns(db, session.id))) continue;
    const message =
      `it was at work when the backup was taken (${takenAt}) from which this installation was restored; ` +
      'nobody knows here how it ended';
    await writeEnd(db, session.id, { succeeded: 'unknown', message, reason: 'run_lost' }, now);
    sessions.push(session.name);
  }
  return { sessions, runs };
}
