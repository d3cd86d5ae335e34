/** Texts that differ whenever schedules or drift have changed: for readers who then read again. */
import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';
import { LAST_DELETION, newestRows } from '../connection/newest-rows.ts';

/** Schedules that are looked at: a site has some hundred. */
const SCHEDULES = 1_000;

/** Returns the revision of all schedules with their runs. */
export async function readSchedulesRevision(db: Db): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    select concat_ws(' ', ${LAST_DELETION}, (select count(*) from schedules),
      ${newestRows(sql`schedules order by updated_at desc`, SCHEDULES)},
      ${newestRows(sql`schedule_runs order by created_at desc`)},
      ${newestRows(sql`schedule_runs where ended_at is null order by id`)}) as revision`.execute(db);
  return rows[0]?.revision ?? '';
}

/** Returns the revision of what checks have found. */
export async function readDriftRevision(db: Db): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    select concat_ws(' ', (select count(*) from drift), ${newestRows(sql`drift order by checked_at desc`)},
      ${newestRows(sql`drift_checks order by made_at desc`)}) as revision`.execute(db);
  return rows[0]?.revision ?? '';
}
