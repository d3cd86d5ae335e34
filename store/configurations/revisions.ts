import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';
import { LAST_DELETION, newestRows } from '../connection/newest-rows.ts';

/**
 * Returns a text that differs whenever a configuration was made, changed or deleted. The last deletion of anything is a part of it: what is
 * made and deleted between two looks leaves the numbers of the table as they were, and a page may have read it meanwhile.
 */
export async function readConfigurationsRevision(db: Db): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    select concat_ws(' ', count(*), max(revision), sum(revision), ${LAST_DELETION}) as revision
    from configurations`.execute(db);
  return rows[0]?.revision ?? '';
}

/** Returns a text that differs whenever a source was made, changed or deleted. */
export async function readSourcesRevision(db: Db): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    select concat_ws(' ', ${LAST_DELETION}, (select count(*) from sources), ${newestRows(sql`sources order by updated_at desc`)}) as revision`.execute(
    db,
  );
  return rows[0]?.revision ?? '';
}

/** Returns a text that differs whenever an option was set. */
export async function readOptionsRevision(db: Db): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    select ${newestRows(sql`options`)} as revision`.execute(db);
  return rows[0]?.revision ?? '';
}
