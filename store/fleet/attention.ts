/** What of the fleet needs a person, as the tables have it. */
import { sql } from 'kysely';
import type { Trouble } from '../../domain/fleet/attention.ts';
import type { Db } from '../connection/database.ts';

/** Records of each kind that are read at most. */
const RECORDS = 100;

/** What the tables tell; the rest is seen from outside of them. */
type StoredTrouble = Omit<Trouble, 'failures' | 'workers' | 'disk' | 'isBatcherLate'>;

/**
 * Sessions that hold or wait for long, rollouts that were stopped, schedules whose last run failed, keys that wait after a failure, what drifts,
 * and what is late.
 * @param waitsSince what waits since before this waits for long
 */
export async function readTrouble(db: Db, now: Date, waitsSince: Date): Promise<StoredTrouble> {
  const [held, rollouts, schedules, backoffs, waiting, drift, lags] = await Promise.all([
    db
      .selectFrom('sessions')
      .select(['id', 'name', 'message', 'updated_at as since'])
      .where('phase', '=', 'hold')
      .where('stage', '<>', 'ended')
      .where('deleted_at', 'is', null)
      .orderBy('updated_at')
      .limit(RECORDS)
      .execute(),
    db
      .selectFrom('rollouts')
      .select(['configuration', 'reason', 'stopped_at as since'])
      .where('is_current', '=', true)
      .where('state', '=', 'stopped')
      .orderBy('configuration')
      .limit(RECORDS)
      .execute(),
    sql<Trouble['schedules'][number]>`
      select name, last.error, last.ended_at as since from schedules join lateral (
        select state, error, ended_at from schedule_runs where schedule_id = schedules.id and ended_at is not null
        order by ended_at desc limit 1
      ) as last on last.state = 'failed'
      order by name limit ${RECORDS}`.execute(db),
    sql<Trouble['backoffs'][number]>`
      select key, backoff_start + make_interval(secs => backoff_length) as until from batch_keys
      where backoff_length > 0 and backoff_start + make_interval(secs => backoff_length) > ${now}
        and exists (select from batches where batches.key = batch_keys.key and state <> 'ended')
      order by key limit ${RECORDS}`.execute(db),
    sql<NonNullable<Trouble['waiting']>>`
      select id, name, message, created_at as since,
        (select count(*)::int from sessions where stage = 'queued' and deleted_at is null and created_at < ${waitsSince}) as count
      from sessions where stage = 'queued' and deleted_at is null and created_at < ${waitsSince}
      order by created_at limit 1`.execute(db),
    sql<{ count: number; since: Date | null }>`
      select count(distinct component_id)::int as count, min(checked_at) as since from drift where status = 'drifted'`.execute(
      db,
    ),
    sql<Trouble['lags']>`
      select (select coalesce(max(event_lag_ms), 0) / 1000.0 from runs where state = 'started')::float8 as events,
        (select coalesce(max(extract(epoch from ${now}::timestamptz - created_at)), 0) from outbox)::float8 as outbox`.execute(
      db,
    ),
  ]);
  const [drifted] = drift.rows;
  return {
    ...{ held, rollouts, schedules: schedules.rows, backoffs: backoffs.rows },
    waiting: waiting.rows[0] ?? null,
    drift: drifted === undefined || drifted.count === 0 ? null : drifted,
    lags: lags.rows[0] ?? { events: 0, outbox: 0 },
  };
}
