import type { Database, Kysely } from '../../../control/database.ts';
import { jobOfSession, type SessionJobRow } from '../../../control/sessions/cluster/record-job.ts';
import { musterError } from '../../../domain/errors.ts';

/** The session's Job on record. */
export async function preparedJob(db: Kysely<Database>, sessionId: string): Promise<SessionJobRow> {
  const job = await jobOfSession(db, sessionId);
  if (job === null) throw musterError('job_lost', `Session ${sessionId} has no Job on record`);
  return job;
}
