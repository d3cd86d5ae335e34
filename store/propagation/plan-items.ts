/** What a plan commits: its items with their frozen differences, and which of them are to be settled. */
import { type Insertable, sql } from 'kysely';
import type { Settlement } from '../../domain/propagation/settlement.ts';
import type { Db } from '../connection/database.ts';
import type { PlanItemRow, PlanItemsTable } from './plan-tables.ts';

export async function insertPlanItems(trx: Db, rows: readonly Insertable<PlanItemsTable>[]): Promise<void> {
  for (let at = 0; at < rows.length; at += 500) {
    await trx
      .insertInto('propagation_plan_items')
      .values(rows.slice(at, at + 500))
      .execute();
  }
}

/** Gives staged items to a plan. Returns whether all of them were free. */
export async function takeItems(trx: Db, plan: string, uids: readonly string[]): Promise<boolean> {
  const taken = await sql`
    update propagation_staged_items set plan = ${plan}, state = 'staged'
    where uid = any(${uids}::uuid[]) and plan is null`.execute(trx);
  return taken.numAffectedRows === BigInt(uids.length);
}

/** Marks items whose actions have ended for good; what is committed stays so. */
export async function markSettlements(
  trx: Db,
  plan: string,
  settlements: readonly { base: string; settles: Settlement }[],
): Promise<void> {
  if (settlements.length === 0) return;
  await sql`
    update propagation_plan_items as i set settles = s.settles
    from unnest(${settlements.map(({ base }) => base)}::text[], ${settlements.map(({ settles }) => settles)}::text[])
      as s(base, settles)
    where i.plan = ${plan} and i.base = s.base and i.committed_at is null`.execute(trx);
}

/** Returns at most `limit` items that are to be settled, held until the transaction ends. Those that another transaction holds are left out. */
export async function holdSettlements(trx: Db, plan: string, limit: number): Promise<PlanItemRow[]> {
  return trx
    .selectFrom('propagation_plan_items')
    .selectAll()
    .where('plan', '=', plan)
    .where('settles', 'is not', null)
    .orderBy('base')
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute();
}

/** Whether something is left to be settled. */
export async function hasSettlements(db: Db, plan: string): Promise<boolean> {
  const query = db.selectFrom('propagation_plan_items').select('base').where('plan', '=', plan);
  return (await query.where('settles', 'is not', null).limit(1).executeTakeFirst()) !== undefined;
}

/** Notes that items are settled: committed at an instant, or failed. */
export async function settled(
  trx: Db,
  plan: string,
  bases: readonly string[],
  committedAt: Date | null,
): Promise<void> {
  if (bases.length === 0) return;
  await sql`
    update propagation_plan_items set settles = null, committed_at = ${committedAt}
    where plan = ${plan} and base = any(${bases}::text[])`.execute(trx);
}

/** Resources that the plan settles by items of its own making: a removal in the same plan stages them no more. */
export async function findImpliedResources(db: Db, plan: string): Promise<Set<string>> {
  const query = db.selectFrom('propagation_plan_items').select('resource').where('plan', '=', plan);
  const rows = await query.where('is_implied', '=', true).execute();
  return new Set(rows.map(({ resource }) => resource));
}

/** Moves items into the history, with the uid that they had, and removes what is staged of them. */
export async function moveToHistory(trx: Db, plan: string, bases: readonly string[], now: Date): Promise<void> {
  if (bases.length === 0) return;
  await sql`
    insert into propagation_history (uid, resource, action, diff, connections_diff, base_path, tags, plan, committed_at)
    select uid, resource, action, diff, connections_diff, base_path, tags, plan, ${now}
    from propagation_plan_items where plan = ${plan} and base = any(${bases}::text[]) order by base
    on conflict (uid) do nothing`.execute(trx);
  await sql`
    delete from propagation_staged_items
    where uid in (select uid from propagation_plan_items where plan = ${plan} and base = any(${bases}::text[]))`.execute(
    trx,
  );
}

/** Notes that actions of staged items have failed; the items stay. */
export async function markItemsFailed(trx: Db, uids: readonly string[]): Promise<void> {
  await sql`update propagation_staged_items set state = 'error' where uid = any(${uids}::uuid[])`.execute(trx);
}
