import { SESSION_KIND } from '../../domain/runs/owner.ts';
import type { Db } from '../../store/connection/database.ts';
import { deleteStream } from '../../store/runs/streams.ts';
import { clearSessionJob } from '../../store/sessions/session-jobs.ts';
import { markPurged } from '../../store/sessions/sweep.ts';
import { forgetRuns } from '../runs/forget-runs.ts';

/** Removes events, output and results of a deleted session from the database. Harmless to repeat. */
export async function removeSessionRecords(db: Db, id: string): Promise<void> {
  await deleteStream(db, id);
  await forgetRuns(db, { kind: SESSION_KIND, id });
}

/** The same, and what its pod was given, after which nothing is left of the session but its row and that of its Job. */
export async function purgeSession(db: Db, id: string, now: Date): Promise<void> {
  await removeSessionRecords(db, id);
  await clearSessionJob(db, id);
  await markPurged(db, id, now);
}
