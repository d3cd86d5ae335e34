import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';

/** Returns a text that differs whenever a current rollout has gone on, was stopped, or is another. */
export async function readRolloutsRevision(db: Db): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    select concat_ws(' ', max(id), extract(epoch from max(updated_at)), count(*) filter (where is_current)) as revision
    from rollouts`.execute(db);
  return rows[0]?.revision ?? '';
}
