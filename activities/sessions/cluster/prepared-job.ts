import { musterError } from '../../../domain/errors.ts';
import type { Db } from '../../../store/connection/database.ts';
import { findSessionJob, type SessionJobRow } from '../../../store/sessions/session-jobs.ts';

/** The session's Job on record. */
export async function preparedJob(db: Db, sessionId: string): Promise<SessionJobRow> {
  const job = await findSessionJob(db, sessionId);
  if (job === null) throw musterError('job_lost', `Session ${sessionId} has no Job on record`);
  return job;
}
