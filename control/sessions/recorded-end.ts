import type { RecordedEnd } from '../../domain/sessions/session-result.ts';
import type { Db } from '../../store/connection/database.ts';
import { countHostsByStatus } from '../../store/runs/host-result-reads.ts';
import { findSessionById } from '../../store/sessions/sessions.ts';

/** How the record says that a session ended, with how many hosts ended how; null where the record is gone. */
export async function recordedEnd(db: Db, sessionId: string): Promise<RecordedEnd | null> {
  const session = await findSessionById(db, sessionId);
  if (session === null) return null;
  const { succeeded, message, reason } = session;
  return { succeeded, message, reason, hosts: await countHostsByStatus(db, sessionId) };
}
