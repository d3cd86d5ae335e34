import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';
import { LAST_DELETION, newestRows } from '../connection/newest-rows.ts';

/** Returns a text that differs whenever an image or a job that customises one was made, has changed, or is gone. */
export async function readImagesRevision(db: Db): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    select concat_ws(' ', ${LAST_DELETION}, (select count(*) from images), ${newestRows(sql`images order by updated_at desc`)},
      ${newestRows(sql`image_jobs order by created_at desc`)},
      ${newestRows(sql`image_jobs where not cleaned order by id`)}) as revision`.execute(db);
  return rows[0]?.revision ?? '';
}
