/** Schedules of the user. Each write raises the revision, by which it is known whether the engine has it. */
import { type Selectable, sql } from 'kysely';
import type { ScheduleBody } from '../../domain/schedules/schedule-schema.ts';
import type { Db } from '../connection/database.ts';
import type { SchedulesTable } from './tables.ts';

export type ScheduleRow = Selectable<SchedulesTable>;

export interface NewSchedule {
  id: string;
  name: string;
  record: ScheduleBody;
  paused: boolean;
  now: Date;
  actor: string | null;
}

export interface SchedulePause {
  paused: boolean;
  note: string;
  now: Date;
  actor: string | null;
}

/** Inserts a schedule; answers null when one of that name is there. */
export async function insertSchedule(db: Db, schedule: NewSchedule): Promise<ScheduleRow | null> {
  const { id, name, record, paused, now, actor } = schedule;
  const row = await db
    .insertInto('schedules')
    .values({
      ...{ id, name, record: JSON.stringify(record), created_at: now, updated_at: now, actor },
      ...{ paused, paused_by: paused ? actor : null, paused_at: paused ? now : null },
    })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returningAll()
    .executeTakeFirst();
  return row ?? null;
}

/** The schedule of this name, or null. */
export async function findSchedule(db: Db, name: string): Promise<ScheduleRow | null> {
  return (await db.selectFrom('schedules').selectAll().where('name', '=', name).executeTakeFirst()) ?? null;
}

/** The schedule of this id, or null. */
export async function findScheduleById(db: Db, id: string): Promise<ScheduleRow | null> {
  return (await db.selectFrom('schedules').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;
}

/** The schedule of this id as it stays until the transaction ends: a pause waits. Or null. */
export async function holdSchedule(trx: Db, id: string): Promise<ScheduleRow | null> {
  const query = trx.selectFrom('schedules').selectAll().where('id', '=', id).forShare();
  return (await query.executeTakeFirst()) ?? null;
}

/** The schedule, locked against every other writer until the transaction ends. */
export async function lockSchedule(trx: Db, name: string): Promise<ScheduleRow | null> {
  const query = trx.selectFrom('schedules').selectAll().where('name', '=', name).forUpdate();
  return (await query.executeTakeFirst()) ?? null;
}

/** At most `limit` schedules after a name, by code point. */
export async function listSchedules(db: Db, afterName: string, limit: number): Promise<ScheduleRow[]> {
  return db.selectFrom('schedules').selectAll().where('name', '>', afterName).orderBy('name').limit(limit).execute();
}

/** Replaces what the user said of a schedule. */
export async function updateSchedule(
  db: Db,
  id: string,
  record: ScheduleBody,
  { now, actor }: { now: Date; actor: string | null },
): Promise<ScheduleRow> {
  return db
    .updateTable('schedules')
    .set((row) => ({
      ...{ record: JSON.stringify(record), updated_at: now, actor },
      revision: row('revision', '+', 1),
    }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Pauses or resumes a schedule; who and why is kept while it is paused. Null when there is none of that name. */
export async function pauseSchedule(
  db: Db,
  name: string,
  { paused, note, now, actor }: SchedulePause,
): Promise<ScheduleRow | null> {
  const row = await db
    .updateTable('schedules')
    .set((before) => ({
      ...{ paused, updated_at: now, actor },
      ...{ pause_note: paused ? note : '', paused_by: paused ? actor : null, paused_at: paused ? now : null },
      revision: before('revision', '+', 1),
    }))
    .where('name', '=', name)
    .returningAll()
    .executeTakeFirst();
  return row ?? null;
}

/** Pauses all schedules that are not paused. Returns their names, sorted. */
export async function pauseActiveSchedules(db: Db, pause: Omit<SchedulePause, 'paused'>): Promise<string[]> {
  const { note, now, actor } = pause;
  const rows = await db
    .updateTable('schedules')
    .set((before) => ({
      ...{ paused: true, updated_at: now, actor, pause_note: note, paused_by: actor, paused_at: now },
      revision: before('revision', '+', 1),
    }))
    .where('paused', '=', false)
    .returning('name')
    .execute();
  return rows.map(({ name }) => name).sort();
}

/** Lets schedules go on that were paused at one of these moments. Returns their names, sorted. */
export async function resumeSchedulesPausedAt(
  db: Db,
  moments: readonly Date[],
  { now, actor }: { now: Date; actor: string | null },
): Promise<string[]> {
  const rows = await db
    .updateTable('schedules')
    .set((before) => ({
      ...{ paused: false, updated_at: now, actor, pause_note: '', paused_by: null, paused_at: null },
      revision: before('revision', '+', 1),
    }))
    .where('paused', '=', true)
    .where('paused_at', 'in', [...moments])
    .returning('name')
    .execute();
  return rows.map(({ name }) => name).sort();
}

/** Deletes a schedule with its runs; answers whether there was one. */
export async function deleteSchedule(db: Db, name: string): Promise<boolean> {
  const result = await db.deleteFrom('schedules').where('name', '=', name).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** Notes that the engine has this revision; answers false when the record has moved on or is gone. */
export async function markScheduleSynced(db: Db, id: string, revision: number): Promise<boolean> {
  const result = await db
    .updateTable('schedules')
    .set({ synced_revision: revision, sync_error: null })
    .where('id', '=', id)
    .where('revision', '=', revision)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Notes why the engine does not have the schedule as it stands. */
export async function noteScheduleUnsynced(db: Db, id: string, error: string): Promise<void> {
  await db
    .updateTable('schedules')
    .set({ synced_revision: null, sync_error: error })
    .where('id', '=', id)
    .where(sql<boolean>`(synced_revision, sync_error) is distinct from (null::integer, ${error}::text)`)
    .execute();
}
