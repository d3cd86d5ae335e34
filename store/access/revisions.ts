import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';
import { LAST_DELETION, newestRows } from '../connection/newest-rows.ts';

/**
 * Returns a text that differs whenever a token was made, revoked or used for the first time, once a minute while tokens are used, and when a secret was
 * set or removed. Tokens of nodes are many, and each use of one writes its row: where rows are, and which transaction wrote them, would differ all the time.
 */
export async function readAccessRevision(db: Db): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    select concat_ws(' ', ${LAST_DELETION},
      (select concat_ws('/', count(*), max(created_at), count(revoked_at), max(revoked_at), count(last_used_at),
        date_trunc('minute', max(last_used_at))) from tokens),
      (select count(*) from secrets), ${newestRows(sql`secrets order by updated_at desc`)},
      (select secrets_revision from batcher_state)) as revision`.execute(db);
  return rows[0]?.revision ?? '';
}
