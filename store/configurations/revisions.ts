import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';

/** Returns a text that differs whenever a configuration was made, changed or deleted. */
export async function readConfigurationsRevision(db: Db): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    select concat_ws(' ', count(*), max(revision), sum(revision)) as revision from configurations`.execute(db);
  return rows[0]?.revision ?? '';
}
