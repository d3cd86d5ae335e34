/** Attempts: each has an id of its own, a number that is never used again, and one end. */
import { type Insertable, sql } from 'kysely';
import type { Outcome } from '../../domain/propagation/event-schema.ts';
import type { Db } from '../connection/database.ts';
import type { AttemptRow, AttemptsTable } from './plan-tables.ts';

export async function insertAttempts(trx: Db, rows: readonly Insertable<AttemptsTable>[]): Promise<void> {
  if (rows.length > 0)
    await trx
      .insertInto('propagation_attempts')
      .values([...rows])
      .execute();
}

export async function findAttempt(db: Db, id: string): Promise<AttemptRow | null> {
  return (await db.selectFrom('propagation_attempts').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;
}

/** Returns the attempt, locked against every other writer until the transaction ends. */
export async function lockAttempt(trx: Db, id: string): Promise<AttemptRow | null> {
  const query = trx.selectFrom('propagation_attempts').selectAll().where('id', '=', id).forUpdate();
  return (await query.executeTakeFirst()) ?? null;
}

/** Returns the attempts of a plan of which the last word is not said: open ones, and those that have ended and are not taken. */
export async function listUntaken(db: Db, plan: string): Promise<AttemptRow[]> {
  const query = db.selectFrom('propagation_attempts').selectAll().where('plan', '=', plan);
  return query.where('taken', '=', false).orderBy('created_at').orderBy('id').execute();
}

/** Notes that an advance has made of these attempts what they mean. */
export async function markTaken(trx: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`update propagation_attempts set taken = true where id = any(${ids}::uuid[])`.execute(trx);
}

/** Asks for the end of all open attempts of a plan. */
export async function wantEnds(trx: Db, plan: string): Promise<void> {
  await sql`
    update propagation_attempts set end_wanted = true
    where plan = ${plan} and state = 'open' and not end_wanted`.execute(trx);
}

/** Notes which machines were not there when their attempts were looked for. */
export async function markAway(trx: Db, plan: string, ids: readonly string[], now: Date): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update propagation_attempts set away_since = coalesce(away_since, ${now})
    where plan = ${plan} and id = any(${ids}::uuid[]) and state = 'open'`.execute(trx);
}

/** Notes the machine of an attempt, by which it is there. The first machine stays. Returns the attempt, or null where it has ended. */
export async function claimAttempt(
  db: Db,
  { plan, id }: { plan: string; id: string },
  machine: string,
): Promise<AttemptRow | null> {
  const own = sql<string>`coalesce(machine, ${machine})`;
  const query = db.updateTable('propagation_attempts').set({
    machine: own,
    away_since: sql<Date | null>`case when ${own} = ${machine} then null else away_since end`,
  });
  const open = query.where('id', '=', id).where('plan', '=', plan).where('state', '=', sql.lit('open'));
  return (await open.returningAll().executeTakeFirst()) ?? null;
}

/** Notes that the run of an attempt goes on; clocks begin with it. */
export async function markAttemptStarted(db: Db, id: string, now: Date): Promise<void> {
  await sql`
    update propagation_attempts set started_at = ${now}
    where id = ${id} and state = 'open' and started_at is null`.execute(db);
}

export interface AttemptEnd {
  outcome: Outcome;
  code: string | null;
  message: string | null;
  /** Whether the run was seen to be gone. */
  verified: boolean;
}

/** Writes the end of an attempt once. Returns whether this call wrote it. */
export async function endAttempt(trx: Db, id: string, end: AttemptEnd, now: Date): Promise<boolean> {
  const query = trx.updateTable('propagation_attempts').set({ state: 'ended', ...end, ended_at: now });
  const result = await query.where('id', '=', id).where('state', '=', 'open').executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Notes that the run of an attempt is gone after all. */
export async function markVerified(trx: Db, id: string): Promise<void> {
  await trx.updateTable('propagation_attempts').set({ verified: true }).where('id', '=', id).execute();
}

/**
 * Returns at most `limit` attempts of a machine that have ended without their runs having been seen to be gone. Where there are more, each
 * call returns others: runs that can never be seen to be gone keep no other from it.
 */
export async function listUnverified(db: Db, machine: string, limit: number): Promise<string[]> {
  const query = db.selectFrom('propagation_attempts').select('id').where('machine', '=', machine);
  const ended = query.where('state', '=', sql.lit('ended')).where('verified', '=', sql.lit(false));
  return (await ended.orderBy(sql`random()`).limit(limit).execute()).map(({ id }) => id);
}

/** Returns those of these attempts that are open. */
export async function findOpenAttempts(db: Db, ids: readonly string[]): Promise<Set<string>> {
  const query = db.selectFrom('propagation_attempts').select('id').where('state', '=', 'open');
  const rows = await query.where('id', '=', sql<string>`any(${ids}::uuid[])`).execute();
  return new Set(rows.map(({ id }) => id));
}

/** Returns the attempts of a plan that a machine has taken, and that may have a run. */
export async function listClaimed(db: Db, plan: string): Promise<string[]> {
  const query = db.selectFrom('propagation_attempts').select('id').where('plan', '=', plan);
  return (await query.where('machine', 'is not', null).orderBy('id').execute()).map(({ id }) => id);
}
