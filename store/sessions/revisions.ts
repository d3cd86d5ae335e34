/** Texts that differ whenever sessions have changed: for readers who then read again. */
import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';

/** Returns the revision of one session with its streams, deleted or not; '' when nothing is left of it. */
export async function readSessionRevision(db: Db, id: string): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    select concat_ws(' ', extract(epoch from s.updated_at), s.status, s.stage, s.phase, s.layer, s.attempt,
      extract(epoch from s.cancel_requested_at), extract(epoch from s.deleted_at), md5(s.message),
      t.next_event, t.next_chunk,
      (select concat(count(*), '/', count(started_at), '/', count(ended_at)) from runs where session_id = s.id)) as revision
    from sessions s left join streams t on t.id = s.id::text where s.id = ${id}
  `.execute(db);
  return rows[0]?.revision ?? '';
}

/**
 * Returns the revision of the list of sessions: it changes with each session that is made, deleted or has ended, and with the state of
 * those that have not ended. Every part of it is read from an index.
 */
export async function readSessionsRevision(db: Db): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    select concat_ws(' ',
      (select max(start_time) from sessions),
      (select max(deleted_at) from sessions where deleted_at is not null and purged_at is null),
      (select concat(count(*), ' ', max(updated_at), ' ', sum(queue)) from sessions where stage <> 'ended'),
      (select max(completion_time) from sessions where start_time > now() - interval '1 day')) as revision
  `.execute(db);
  return rows[0]?.revision ?? '';
}
