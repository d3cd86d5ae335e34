import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';
import { LAST_DELETION, newestRows } from '../connection/newest-rows.ts';

/** Returns a text that differs whenever a webhook has changed, or what it was told: the newest of it, and what is next. */
export async function readWebhooksRevision(db: Db): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    select concat_ws(' ', ${LAST_DELETION}, (select count(*) from webhooks), ${newestRows(sql`webhooks order by updated_at desc`)},
      ${newestRows(sql`notifications order by created_at desc`)},
      ${newestRows(sql`notifications where state = 'waiting' order by webhook, next_try_at`)}) as revision`.execute(db);
  return rows[0]?.revision ?? '';
}
