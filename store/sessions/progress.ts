/** What the record of a session says while it is worked on. */
import { sql } from 'kysely';
import type { ErrorCode } from '../../domain/errors.ts';
import { OPEN_RUN_STATES } from '../../domain/runs/run-states.ts';
import type { Progress } from '../../domain/sessions/progress.ts';
import type { Snapshot } from '../../domain/sessions/schema.ts';
import type { Db } from '../connection/database.ts';
import { literals } from '../connection/literals.ts';
import { announceStream, STREAM_CHANNEL } from '../runs/streams.ts';

/** Notes which hosts of its limit the inventory of the session does not have (cfs-flows 8.16). */
export async function writeAbsentHosts(db: Db, id: string, hosts: string[]): Promise<void> {
  await db.updateTable('sessions').set({ absent_hosts: hosts }).where('id', '=', id).execute();
}

/** Writes what the engine does now, unless the session has ended. */
export async function writeProgress(db: Db, id: string, progress: Progress, now: Date): Promise<void> {
  const changed = await db
    .updateTable('sessions')
    .set({
      phase: progress.phase,
      message: progress.message,
      reason: progress.reason,
      updated_at: now,
      ...(progress.layer === undefined ? {} : { layer: progress.layer }),
      ...(progress.attempt === undefined ? {} : { attempt: progress.attempt }),
    })
    .where('id', '=', id)
    .where('stage', '<>', 'ended')
    .where('status', '<>', 'complete')
    .executeTakeFirst();
  if (changed.numUpdatedRows > 0n) await announceStream(db, id);
}

/** The reason of sessions that wait for an absent machine; the word is the catalogue's. */
const AWAY: ErrorCode = 'runner_gone';

/** Writes `message` to the sessions that have an open run on a machine that is away. */
export async function noteHostAway(db: Db, host: string, message: string): Promise<void> {
  await sql`
    with waiting as (
      update sessions set message = ${message}, reason = ${AWAY}, updated_at = now()
      where stage = 'admitted' and status <> 'complete' and message <> ${message}
        and id in (select session_id from runs where host = ${host} and state in ${literals(OPEN_RUN_STATES)})
      returning id
    )
    select pg_notify(${STREAM_CHANNEL}, id::text) from waiting
  `.execute(db);
}

/** Takes back what `noteHostAway` wrote. */
export async function noteHostBack(db: Db, host: string): Promise<void> {
  await sql`
    with running as (
      update sessions set message = 'running layer ' || (layer + 1), reason = null, updated_at = now()
      where stage = 'admitted' and status <> 'complete' and reason = ${AWAY}
        and id in (select session_id from runs where host = ${host} and state in ${literals(OPEN_RUN_STATES)})
      returning id
    )
    select pg_notify(${STREAM_CHANNEL}, id::text) from running
  `.execute(db);
}

/** Stores the snapshot with the commits that the clone found. */
export async function writeSnapshot(db: Db, id: string, snapshot: Snapshot, now: Date): Promise<void> {
  await db
    .updateTable('sessions')
    .set({ snapshot: JSON.stringify(snapshot), updated_at: now })
    .where('id', '=', id)
    .execute();
}
