import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';
import { newestRows } from '../connection/newest-rows.ts';

/** Returns a text that differs whenever a current rollout has gone on, was stopped, or is another. */
export async function readRolloutsRevision(db: Db): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    select concat_ws(' ', max(id), extract(epoch from max(updated_at)), count(*) filter (where is_current)) as revision
    from rollouts`.execute(db);
  return rows[0]?.revision ?? '';
}

/** Batches that have not ended, of which changes are told; members of all are counted. */
const BATCHES = 1_000;

/** Returns a text that differs whenever a batch has changed, or the batcher: each of its passes, too. */
export async function readBatchesRevision(db: Db): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    select concat_ws(' ', ${newestRows(sql`batcher_state`)},
      ${newestRows(sql`batches where state <> 'ended' order by state, opened_at, id`, BATCHES)},
      ${newestRows(sql`batches where state = 'ended' order by ended_at desc, id desc`)},
      (select count(*) from batch_members), ${newestRows(sql`batch_keys order by last_seen_at desc`)},
      (select md5(string_agg(concat(key, xmin::text), ',' order by key)) from batch_holds)) as revision`.execute(db);
  return rows[0]?.revision ?? '';
}
