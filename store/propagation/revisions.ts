/** Texts that differ whenever plans have changed: for readers who then read again. */
import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';
import { newestRows } from '../connection/newest-rows.ts';

/** Returns the revision of the newest plans, of all that have not ended, and of what is staged. */
export async function readPlansRevision(db: Db): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    select concat_ws(' ', ${newestRows(sql`propagation_plans order by place desc`)},
      ${newestRows(sql`propagation_plans where state in ('running', 'paused') order by id`)},
      (select count(*) from propagation_staged_items),
      ${newestRows(sql`propagation_staged_items order by place desc`)}) as revision`.execute(db);
  return rows[0]?.revision ?? '';
}

/** Returns the revision of one plan with its nodes; '' when there is none of the id. */
export async function readPlanRevision(db: Db, id: string): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    select concat_ws(' ', xmin::text, (select next_event from streams where streams.id = ${id}),
      ${newestRows(sql`propagation_attempts where plan = ${id}::uuid and not taken order by id`)}) as revision
    from propagation_plans where id = ${id}::uuid`.execute(db);
  return rows[0]?.revision ?? '';
}

/** Returns the revision of one attempt with what its run has put out. */
export async function readAttemptRevision(db: Db, id: string, run: string): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    select concat_ws(' ', (select xmin::text from propagation_attempts where id = ${id}::uuid),
      (select concat(next_event, '/', next_chunk) from streams where id = ${run})) as revision`.execute(db);
  return rows[0]?.revision ?? '';
}
