import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';
import { LAST_DELETION, newestRows } from '../connection/newest-rows.ts';

/** Returns a text that differs whenever a token has changed, or was used after a while, and when a secret was set or removed. */
export async function readAccessRevision(db: Db): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    select concat_ws(' ', ${LAST_DELETION}, (select count(*) from tokens),
      (select max(last_used_at) from tokens), ${newestRows(sql`tokens order by created_at desc`)},
      (select max(revoked_at) from tokens), (select count(*) from secrets),
      ${newestRows(sql`secrets order by updated_at desc`)}, (select secrets_revision from batcher_state)) as revision`.execute(
    db,
  );
  return rows[0]?.revision ?? '';
}
