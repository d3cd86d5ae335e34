/** What the engine reads and notes of a session while it works on it. */
import type { Kysely } from 'kysely';
import { musterError } from '../../domain/errors.ts';
import { storableText } from '../../domain/runs/storable-text.ts';
import type { Snapshot } from '../../domain/sessions/schema.ts';
import {
  findSessionById,
  type Progress,
  type SessionRow,
  writeProgress,
  writeSnapshot,
} from '../../store/session-engine.ts';
import { appendEvents } from '../../store/streams.ts';
import type { Database } from '../../store/tables.ts';

/** The session by its id, a deleted one too (its work goes on until it is ended). */
export async function loadSession(db: Kysely<Database>, sessionId: string): Promise<SessionRow> {
  const session = await findSessionById(db, sessionId);
  if (session === null) throw musterError('session_not_found', `Session ${sessionId} could not be found`);
  return session;
}

/** Writes what is being done now, for people. */
export async function noteProgress(db: Kysely<Database>, sessionId: string, progress: Progress): Promise<void> {
  await writeProgress(db, sessionId, { ...progress, message: storableText(progress.message) });
}

/** Adds warnings to the session's events. */
export async function noteWarnings(db: Kysely<Database>, sessionId: string, warnings: string[]): Promise<void> {
  const time = new Date();
  await appendEvents(
    db,
    { streamId: sessionId, runId: null, layer: null, attempt: null },
    warnings.map((message) => ({
      time,
      type: 'warning',
      host: null,
      line: null,
      data: { message: storableText(message) },
    })),
  );
}

/** Pins the commits that the clone found. */
export async function pinCommits(db: Kysely<Database>, sessionId: string, snapshot: Snapshot): Promise<void> {
  await writeSnapshot(db, sessionId, snapshot);
}
