/** What schedules did. A run has one end, written once; those before the newest ones go by themselves. */
import { type Selectable, sql } from 'kysely';
import type {
  KeptRunResult,
  ScheduleAction,
  ScheduleRunResult,
  ScheduleRunState,
} from '../../domain/schedules/schedule-schema.ts';
import type { Db } from '../connection/database.ts';
import { countMore, countOne } from '../connection/tallies.ts';
import type { ScheduleRunsTable } from './tables.ts';

export type ScheduleRunRow = Selectable<ScheduleRunsTable>;

export interface NewScheduleRun {
  id: string;
  scheduleId: string;
  scheduledAt: Date;
  byHand: boolean;
  requestedBy: string | null;
  now: Date;
}

export interface ScheduleRunEnd {
  state: Extract<ScheduleRunState, 'succeeded' | 'failed' | 'cancelled' | 'skipped'>;
  result?: ScheduleRunResult | undefined;
  error?: { code: string; detail: string } | undefined;
  now: Date;
}

/** The run of a schedule at a time, made when there is none. `requested` until it begins. */
export async function insertScheduleRun(db: Db, run: NewScheduleRun): Promise<ScheduleRunRow> {
  await db
    .insertInto('schedule_runs')
    .values({
      id: run.id,
      schedule_id: run.scheduleId,
      scheduled_at: run.scheduledAt,
      state: 'requested',
      by_hand: run.byHand,
      requested_by: run.requestedBy,
      created_at: run.now,
    })
    .onConflict((conflict) => conflict.columns(['schedule_id', 'scheduled_at']).doNothing())
    .execute();
  return db
    .selectFrom('schedule_runs')
    .selectAll()
    .where('schedule_id', '=', run.scheduleId)
    .where('scheduled_at', '=', run.scheduledAt)
    .executeTakeFirstOrThrow();
}

/** Removes the ended runs of a schedule before the newest `keep`. */
export async function pruneScheduleRuns(db: Db, scheduleId: string, keep: number): Promise<void> {
  await sql`delete from schedule_runs where schedule_id = ${scheduleId} and ended_at is not null and scheduled_at < (
    select scheduled_at from schedule_runs where schedule_id = ${scheduleId}
    order by scheduled_at desc offset ${keep - 1} limit 1)`.execute(db);
}

/** The run of this id, or null. */
export async function findScheduleRun(db: Db, id: string): Promise<ScheduleRunRow | null> {
  return (await db.selectFrom('schedule_runs').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;
}

/** The run of this id, kept from every other writer until the transaction ends; or null. */
export async function lockScheduleRun(trx: Db, id: string): Promise<ScheduleRunRow | null> {
  const query = trx.selectFrom('schedule_runs').selectAll().where('id', '=', id).forUpdate();
  return (await query.executeTakeFirst()) ?? null;
}

/**
 * Ends the runs of all schedules that have not begun, and those that are for sessions and have made none yet. A run that is making sessions is
 * waited for, and left alone.
 */
export async function endIdleScheduleRuns(db: Db, { detail, now }: { detail: string; now: Date }): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('schedule_runs')
    .set({ state: 'cancelled', ended_at: now, error_code: 'cancelled', error: detail })
    .where('ended_at', 'is', null)
    .where('result', 'is', null)
    .where(sql<boolean>`(action is null or action ->> 'session' is not null or action ->> 'check' is not null)`)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) await countMore(db, 'schedule_runs', 'cancelled', Number(numUpdatedRows));
}

/** The newest run of each of these schedules that has any. */
export async function findLastScheduleRuns(db: Db, scheduleIds: readonly string[]): Promise<ScheduleRunRow[]> {
  if (scheduleIds.length === 0) return [];
  return db
    .selectFrom('schedule_runs')
    .distinctOn('schedule_id')
    .selectAll()
    .where('schedule_id', 'in', scheduleIds)
    .orderBy('schedule_id')
    .orderBy('scheduled_at', 'desc')
    .execute();
}

/** At most `limit` runs of a schedule, newest first, from before the run `afterId` on; '' begins. */
export async function listScheduleRuns(
  db: Db,
  scheduleId: string,
  afterId: string,
  limit: number,
): Promise<ScheduleRunRow[]> {
  let runs = db.selectFrom('schedule_runs').selectAll().where('schedule_id', '=', scheduleId);
  if (afterId !== '') {
    const last = db.selectFrom('schedule_runs').select('scheduled_at').where('id', '=', afterId);
    runs = runs.where('scheduled_at', '<', last);
  }
  return runs.orderBy('scheduled_at', 'desc').limit(limit).execute();
}

/** Runs that have no end yet, of all schedules, after an id. */
export async function listOpenScheduleRuns(db: Db, afterId: string | null, limit: number): Promise<ScheduleRunRow[]> {
  let runs = db.selectFrom('schedule_runs').selectAll().where('ended_at', 'is', null);
  if (afterId !== null) runs = runs.where('id', '>', afterId);
  return runs.orderBy('id').limit(limit).execute();
}

/** Notes that the engine was told of a run that was asked for. */
export async function markScheduleRunDelivered(db: Db, id: string, now: Date): Promise<void> {
  await db.updateTable('schedule_runs').set({ delivered_at: now }).where('id', '=', id).execute();
}

/** Begins a run that was only asked for, with the action that it is to do; answers whether it did. */
export async function startScheduleRun(
  db: Db,
  id: string,
  start: { action: ScheduleAction; workflowId: string; now: Date },
): Promise<boolean> {
  const result = await db
    .updateTable('schedule_runs')
    .set({
      state: 'running',
      action: JSON.stringify(start.action),
      workflow_id: start.workflowId,
      started_at: start.now,
    })
    .where('id', '=', id)
    .where('state', '=', 'requested')
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Notes what a run made while it goes on. */
export async function noteScheduleRunResult(db: Db, id: string, result: KeptRunResult): Promise<void> {
  await db
    .updateTable('schedule_runs')
    .set({ result: JSON.stringify(result) })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .execute();
}

/** Ends a run, once; answers false when it had ended or is gone. */
export async function endScheduleRun(
  db: Db,
  id: string,
  { state, result, error, now }: ScheduleRunEnd,
): Promise<boolean> {
  const updated = await db
    .updateTable('schedule_runs')
    .set({
      ...{ state, ended_at: now, error_code: error?.code ?? null, error: error?.detail ?? null },
      ...(result === undefined ? {} : { result: JSON.stringify(result) }),
    })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  const hasEnded = updated.numUpdatedRows > 0n;
  if (hasEnded) await countOne(db, 'schedule_runs', state);
  return hasEnded;
}
