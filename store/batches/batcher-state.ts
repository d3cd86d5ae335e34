/** The batcher's one record, and what it remembers of single keys. */
import { sql } from 'kysely';
import type { GlobalBackOff, KeyBackOff } from '../../domain/batches/back-off.ts';
import type { Db } from '../connection/database.ts';

/** Where changes that may make a component pending are announced; the database does it (migration 0008). */
export const BATCHER_CHANNEL = 'muster_batcher';

export interface BatcherState {
  backOff: GlobalBackOff;
  paused: boolean;
  pausedBy: string | null;
  pausedAt: Date | null;
  lastPassAt: Date | null;
  lastPassMs: number | null;
  nextPassAt: Date | null;
}

/** What the batcher remembers; `lock` keeps it until the transaction ends. */
export async function readBatcherState(db: Db, { lock = false } = {}): Promise<BatcherState> {
  const query = db.selectFrom('batcher_state').selectAll();
  const row = await (lock ? query.forUpdate() : query).executeTakeFirstOrThrow();
  return {
    backOff: {
      results: row.results,
      length: row.backoff_length,
      start: row.backoff_start?.getTime() ?? 0,
      probe: row.probe,
    },
    paused: row.paused,
    pausedBy: row.paused_by,
    pausedAt: row.paused_at,
    lastPassAt: row.last_pass_at,
    lastPassMs: row.last_pass_ms,
    nextPassAt: row.next_pass_at,
  };
}

export async function writeBackOff(trx: Db, backOff: GlobalBackOff): Promise<void> {
  await trx
    .updateTable('batcher_state')
    .set({
      results: backOff.results,
      backoff_length: backOff.length,
      backoff_start: backOff.length === 0 ? null : new Date(backOff.start),
      probe: backOff.probe,
    })
    .execute();
}

/** This batch tries whether things are better. */
export async function markProbe(trx: Db, batch: string): Promise<void> {
  await trx.updateTable('batcher_state').set({ probe: batch }).execute();
}

export async function markKeyProbe(trx: Db, key: string, batch: string): Promise<void> {
  await trx.updateTable('batch_keys').set({ probe: batch }).where('key', '=', key).execute();
}

/** Stops sending and collecting, or lets both go on. */
export async function writePaused(db: Db, paused: boolean, actor: string | null, now: Date): Promise<void> {
  await db
    .updateTable('batcher_state')
    .set({ paused, paused_by: paused ? actor : null, paused_at: paused ? now : null })
    .execute();
}

/** Stops sending and collecting unless that is so already. Returns whether it was not. */
export async function pauseUnlessPaused(db: Db, actor: string | null, now: Date): Promise<boolean> {
  const result = await db
    .updateTable('batcher_state')
    .set({ paused: true, paused_by: actor, paused_at: now })
    .where('paused', '=', false)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Lets sending and collecting go on where they were stopped at one of these moments. Returns whether they were. */
export async function resumeIfPausedAt(db: Db, moments: readonly Date[]): Promise<boolean> {
  const result = await db
    .updateTable('batcher_state')
    .set({ paused: false, paused_by: null, paused_at: null })
    .where('paused', '=', true)
    .where('paused_at', 'in', [...moments])
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Whether sending is stopped; a pause that comes now waits for the transaction, so that nothing is sent behind it. */
export async function isPaused(trx: Db): Promise<boolean> {
  const row = await trx.selectFrom('batcher_state').select('paused').forShare().executeTakeFirstOrThrow();
  return row.paused;
}

/** Asks for a pass as soon as the transaction is committed. */
export async function announceBatcher(db: Db): Promise<void> {
  await sql`select pg_notify(${BATCHER_CHANNEL}, '')`.execute(db);
}

export async function notePass(db: Db, pass: { at: Date; ms: number; nextAt: Date }): Promise<void> {
  await db
    .updateTable('batcher_state')
    .set({ last_pass_at: pass.at, last_pass_ms: pass.ms, next_pass_at: pass.nextAt })
    .execute();
}

export interface KeyState extends KeyBackOff {
  key: string;
  paused: boolean;
  pausedBy: string | null;
}

/** The keys of which anything is remembered: those that failed, and those that somebody paused. */
export async function readKeys(db: Db, { lock = false } = {}): Promise<KeyState[]> {
  const query = db.selectFrom('batch_keys').selectAll().orderBy('key');
  const rows = await (lock ? query.forUpdate() : query).execute();
  return rows.map((row) => ({
    key: row.key,
    failuresInARow: row.failures,
    length: row.backoff_length,
    start: row.backoff_start?.getTime() ?? 0,
    probe: row.probe,
    desired: row.desired,
    lastSeenAt: row.last_seen_at.getTime(),
    paused: row.paused,
    pausedBy: row.paused_by,
  }));
}

export async function writeKey(trx: Db, key: string, state: KeyBackOff): Promise<void> {
  const record = {
    failures: state.failuresInARow,
    backoff_length: state.length,
    backoff_start: state.length === 0 ? null : new Date(state.start),
    probe: state.probe,
    desired: state.desired,
    last_seen_at: new Date(state.lastSeenAt),
  };
  await trx
    .insertInto('batch_keys')
    .values({ key, ...record })
    .onConflict((conflict) => conflict.column('key').doUpdateSet(record))
    .execute();
}

/** Removes what is remembered of a key, unless somebody paused it. */
export async function forgetKey(trx: Db, key: string): Promise<void> {
  await trx.deleteFrom('batch_keys').where('key', '=', key).where('paused', '=', false).execute();
}

/** Notes that keys of batches that have not ended are seen, where that was last noted before a time. */
export async function seeKeys(db: Db, now: Date, seenBefore: Date): Promise<void> {
  await sql`
    update batch_keys set last_seen_at = ${now} where last_seen_at < ${seenBefore}
      and key in (select key from batches where state <> 'ended')`.execute(db);
}

/** Removes what is remembered of keys that were last seen before a time, unless somebody paused them. */
export async function forgetKeys(db: Db, seenBefore: Date): Promise<void> {
  await db.deleteFrom('batch_keys').where('last_seen_at', '<=', seenBefore).where('paused', '=', false).execute();
}

/** Pauses one key, or lets it go on. */
export async function writeKeyPaused(
  db: Db,
  key: string,
  { paused, actor, now }: { paused: boolean; actor: string | null; now: Date },
): Promise<void> {
  const record = { paused, paused_by: paused ? actor : null };
  await db
    .insertInto('batch_keys')
    .values({ key, ...record, last_seen_at: now })
    .onConflict((conflict) => conflict.column('key').doUpdateSet(record))
    .execute();
}

/** Key of the advisory lock that one pass holds. */
const PASS_LOCK = 0x6d627463;

/**
 * Runs `work` unless another process does so now; answers null then. The lock goes with its connection, which may stand for a
 * while when its machine is gone: where the last pass began before `staleBefore`, work goes on without the lock.
 */
export async function withPassLock<T>(db: Db, staleBefore: Date, work: () => Promise<T>): Promise<T | null> {
  return db.connection().execute(async (connection) => {
    const { rows } = await sql<{ taken: boolean }>`select pg_try_advisory_lock(${PASS_LOCK}) as taken`.execute(
      connection,
    );
    if (!rows[0]?.taken) {
      const { lastPassAt } = await readBatcherState(connection);
      return lastPassAt !== null && lastPassAt < staleBefore ? work() : null;
    }
    try {
      return await work();
    } finally {
      await sql`select pg_advisory_unlock(${PASS_LOCK})`.execute(connection);
    }
  });
}
