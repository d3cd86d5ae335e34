import type { Kysely } from 'kysely';
import { deleteSessionRuns } from '../../store/runs.ts';
import { markPurged } from '../../store/session-engine.ts';
import { deleteStream } from '../../store/streams.ts';
import type { Database } from '../../store/tables.ts';

/** Removes events, output and results of a deleted session from the database. Harmless to repeat. */
export async function removeSessionRecords(db: Kysely<Database>, id: string): Promise<void> {
  await deleteStream(db, id);
  await deleteSessionRuns(db, id);
}

/** The same, after which nothing is left of the session but its row. */
export async function purgeSession(db: Kysely<Database>, id: string): Promise<void> {
  await removeSessionRecords(db, id);
  await markPurged(db, id);
}
