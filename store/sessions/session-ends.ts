/** How far sessions are that something waits for. */
import { sql } from 'kysely';
import type { SessionStatus, Succeeded } from '../../domain/sessions/schema.ts';
import type { SessionReason } from '../../domain/sessions/session-reason.ts';
import type { Db } from '../connection/database.ts';

export interface EndedSession {
  name: string;
  status: SessionStatus;
  succeeded: Succeeded;
  reason: SessionReason | null;
  message: string;
}

/** Those of these sessions that are there; where ids are given, none of another id that has taken one of the names. */
export async function findSessionEnds(
  db: Db,
  names: readonly string[],
  ids: readonly string[] | undefined,
): Promise<EndedSession[]> {
  if (names.length === 0) return [];
  let sessions = db
    .selectFrom('sessions')
    .select(['name', 'status', 'succeeded', 'reason', 'message'])
    .where('name', '=', sql<string>`any(${names})`)
    .where('deleted_at', 'is', null);
  if (ids !== undefined) sessions = sessions.where(sql<boolean>`id = any(${ids}::uuid[])`);
  return sessions.orderBy('name').execute();
}
