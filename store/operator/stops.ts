/** Operators that rest while everything is stopped. */
import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';
import { causesWithOne } from './causes.ts';
import { manualCause } from './requests.ts';

/** Keeps the operators that work from beginning anything. Returns their names. */
export async function stopOperators(db: Db, at: Date): Promise<string[]> {
  const rows = await db
    .updateTable('operators')
    .set({ stopped_at: at })
    .where('stopped_at', 'is', null)
    .returning('name')
    .execute();
  return rows.map(({ name }) => name).sort();
}

/** Asks for the end of all open reconciles whose end was not asked for yet, at this moment. Returns the operator of each. */
export async function cancelAllOpen(db: Db, by: string, at: Date): Promise<string[]> {
  const rows = await db
    .updateTable('operator_reconciles')
    .set({ cancel_requested_at: at, cancelled_by: by })
    .where('ended_at', 'is', null)
    .where('cancel_requested_at', 'is', null)
    .returning('operator')
    .execute();
  return rows.map(({ operator }) => operator);
}

/** Lets the operators go on that were stopped at one of these moments. Returns their names. */
export async function releaseOperators(db: Db, moments: readonly Date[]): Promise<string[]> {
  const rows = await db
    .updateTable('operators')
    .set({ stopped_at: null })
    .where('stopped_at', 'in', [...moments])
    .returning('name')
    .execute();
  return rows.map(({ name }) => name).sort();
}

/**
 * Makes the resources due whose last reconcile was cancelled at one of these moments: what they want is not done yet. One whose run still ends
 * runs again behind it. Returns the operator of each.
 */
export async function wakeCancelled(
  db: Db,
  moments: readonly Date[],
  { by, urgency }: { by: string | null; urgency: number },
  now: Date,
): Promise<string[]> {
  if (moments.length === 0) return [];
  const cause = manualCause(by);
  const times = sql.join(moments.map((moment) => sql`${moment}::timestamptz`));
  const { rows } = await sql<{ operator: string }>`
    update operator_resources r set dirty = r.dirty + 1, updated_at = ${now}, cause = ${JSON.stringify(cause)}::jsonb,
      causes = ${causesWithOne(cause, now)}, due_reason = 'manual',
      due_class = ${urgency}, due_at = least(r.due_at, ${now}::timestamptz),
      phase = case when r.reconcile_id is null then 'queued' else r.phase end,
      reason = case when r.reconcile_id is null then 'manual' else r.reason end
    from (
      select distinct on (c.resource_id) c.resource_id, c.cancel_requested_at from operator_reconciles c
      where c.resource_id in (select s.resource_id from operator_reconciles s where s.cancel_requested_at in (${times}))
      order by c.resource_id, c.started_at desc
    ) last
    where last.resource_id = r.id and last.cancel_requested_at in (${times}) and r.gone_at is null
    returning r.operator
  `.execute(db);
  return rows.map(({ operator }) => operator);
}
