/** The one record of *stop everything*. */
import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';

export interface StopRow {
  stoppedAt: Date | null;
  stoppedBy: string | null;
  reason: string | null;
  moments: Date[];
  complete: boolean;
}

/** Whether everything is stopped, since when and why. */
export async function readStop(db: Db): Promise<StopRow> {
  return db
    .selectFrom('fleet_stop')
    .select(['stopped_at as stoppedAt', 'stopped_by as stoppedBy', 'reason', 'moments', 'complete'])
    .executeTakeFirstOrThrow();
}

/** Returns a text that differs whenever that has changed. */
export async function readStopRevision(db: Db): Promise<string> {
  const { rows } = await sql<{ revision: string }>`select xmin::text as revision from fleet_stop`.execute(db);
  return rows[0]?.revision ?? '';
}

/** Notes that everything is to be stopped, before anything is. The first moment stays the one since when it is. */
export async function noteStop(db: Db, stop: { at: Date; actor: string | null; reason: string }): Promise<void> {
  const { at, actor, reason } = stop;
  await db
    .updateTable('fleet_stop')
    .set({
      stopped_at: sql`coalesce(stopped_at, ${at}::timestamptz)`,
      stopped_by: sql`case when stopped_at is null then ${actor}::text else stopped_by end`,
      reason,
      moments: sql`moments || ${at}::timestamptz`,
      complete: false,
    })
    .execute();
}

/** Notes that all that was to be stopped is. */
export async function noteStopComplete(db: Db): Promise<void> {
  await db.updateTable('fleet_stop').set({ complete: true }).execute();
}

/** Notes that everything goes on, and forgets the moments. */
export async function noteGo(db: Db): Promise<void> {
  await db
    .updateTable('fleet_stop')
    .set({ stopped_at: null, stopped_by: null, reason: null, moments: sql`'{}'`, complete: true })
    .execute();
}

/** Key of the advisory lock that stopping and going on hold. */
const STOP_LOCK = 0x6d737470;

/** Runs `work` unless another process does so now. Returns null then. The lock goes with its connection. */
export async function withStopLock<T>(db: Db, work: () => Promise<T>): Promise<T | null> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ taken: boolean }>`select pg_try_advisory_xact_lock(${STOP_LOCK}) as taken`.execute(
      trx,
    );
    return rows[0]?.taken ? work() : null;
  });
}
