import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';
import { newestRows } from '../connection/newest-rows.ts';

/** Returns a text that differs whenever something was written down of a change. */
export async function readAuditRevision(db: Db): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    select ${newestRows(sql`audit order by at desc, id desc`)} as revision`.execute(db);
  return rows[0]?.revision ?? '';
}
