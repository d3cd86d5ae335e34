/** What calls for checks have made, by the id of the call. */
import { sql } from 'kysely';
import type { KeptCheckAnswer } from '../../domain/schedules/drift-check-schema.ts';
import type { Db } from '../connection/database.ts';

/** So long a call is remembered. */
const KEPT = sql`interval '30 days'`;

/**
 * Takes the call for this transaction: null when it is new. One that was made before is answered as it was; one that another
 * transaction makes at the moment is waited for.
 */
export async function claimCheck(trx: Db, runId: string, now: Date): Promise<KeptCheckAnswer | null> {
  await sql`delete from drift_checks where made_at < ${now}::timestamptz - ${KEPT} and run_id <> ${runId}`.execute(trx);
  const mine = await trx
    .insertInto('drift_checks')
    .values({ run_id: runId, answer: null, made_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .returning('run_id')
    .executeTakeFirst();
  if (mine !== undefined) return null;
  return findCheckAnswer(trx, runId);
}

/** What the call has made; null when it made nothing yet, or long ago. */
export async function findCheckAnswer(db: Db, runId: string): Promise<KeptCheckAnswer | null> {
  const row = await db.selectFrom('drift_checks').select('answer').where('run_id', '=', runId).executeTakeFirst();
  return row?.answer ?? null;
}

/** Keeps what the call has made. */
export async function saveCheckAnswer(trx: Db, runId: string, answer: KeptCheckAnswer): Promise<void> {
  await trx
    .updateTable('drift_checks')
    .set({ answer: JSON.stringify(answer) })
    .where('run_id', '=', runId)
    .execute();
}
