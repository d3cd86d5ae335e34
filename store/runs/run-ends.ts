/** Ends of single runs that somebody asked for, until the machine of the run has ended it. */
import { sql } from 'kysely';
import { OPEN_RUN_STATES } from '../../domain/runs/run-states.ts';
import type { Db } from '../connection/database.ts';

/** Records that a run is to end; the first request counts. Returns false where the run is over or in no record. */
export async function requestRunEnd(db: Db, id: string, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('runs')
    .set({ end_requested_at: sql`coalesce(end_requested_at, ${now})` })
    .where('id', '=', id)
    .where('state', 'in', OPEN_RUN_STATES)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The machine of the run has ended it. */
export async function forgetRunEndRequest(db: Db, id: string): Promise<void> {
  await db.updateTable('runs').set({ end_requested_at: null }).where('id', '=', id).execute();
}

export interface RunsToEnd {
  requestedBefore: Date;
  /** Of machines that said after this that they are there: no other one ends a run. */
  seenAfter: Date;
  limit: number;
}

/** Runs that are to end and are not over, those first whose end was asked for first. */
export async function runsToEnd(
  db: Db,
  { requestedBefore, seenAfter, limit }: RunsToEnd,
): Promise<{ id: string; machine: string }[]> {
  const { rows } = await sql<{ id: string; machine: string }>`
    select r.id, r.host as machine from runs r join run_machines m on m.machine = r.host
    where r.end_requested_at < ${requestedBefore} and r.state = any(${[...OPEN_RUN_STATES]}::text[]) and m.seen_at > ${seenAfter}
    order by r.end_requested_at, r.id limit ${limit}
  `.execute(db);
  return rows;
}
