/** How things stand now, for whoever measures Muster. */
import { type RawBuilder, sql } from 'kysely';
import type { ConfigurationStatus } from '../../domain/components/schema.ts';
import type { StatusOptions } from '../../domain/components/status.ts';
import { OPEN_RUN_STATES } from '../../domain/runs/run-states.ts';
import { exhausted, judgedStandings } from '../components/component-status.ts';
import { readOptions } from '../configurations/options.ts';
import type { Db } from '../connection/database.ts';
import { literals } from '../connection/literals.ts';

export interface Gauges {
  /** Sessions that are not deleted, by status. */
  sessions: Record<string, number>;
  /** Sessions that wait for a slot, and for how long the first of them has, seconds. */
  queued: number;
  queuedSeconds: number;
  admitted: number;
  /** Runs whose process may be there. */
  activeRuns: number;
  /** How late the newest event of an open run was when it was stored, the worst of them, seconds. */
  eventLag: number;
  /** Seconds since the most silent run that is started has told something; 0 where no run is started. */
  silentRun: number;
  /** Starts and cancels that the workflow engine has not taken yet, and the age of the oldest, seconds. */
  undelivered: number;
  undeliveredSeconds: number;
  /** Batches that have not ended, by state, and the components in them. */
  batches: Record<string, number>;
  batchedComponents: number;
  /** Seconds of the general back-off that are left; keys that are in one of their own. */
  backOff: number;
  keysInBackOff: number;
  /** Keys whose batches wait because of a fault of the controller. */
  heldKeys: number;
  isPaused: boolean;
  /** Components by status and by whether they are enabled. */
  components: ComponentCount[];
  /** Current rollouts by state, layers of components by what the last check found, schedules whose last run failed. */
  rollouts: Record<string, number>;
  drift: Record<string, number>;
  failedSchedules: number;
  /** Age of the oldest result of a check, seconds; null without any. */
  oldestCheck: number | null;
  /** Schedules, by whether they are paused. */
  schedules: Record<string, number>;
  /** Notifications that wait for their first try, or for another; and how long the oldest of enabled webhooks waits, seconds. */
  notifications: Record<string, number>;
  oldestNotification: number;
  /** Size of the database, bytes. */
  databaseBytes: number;
  /** Whether everything is stopped. */
  isStopped: boolean;
  /** Seconds since the batcher's last pass and how long it took; null before the first. */
  sinceLastPass: number | null;
  lastPassSeconds: number | null;
}

export interface ComponentCount {
  status: ConfigurationStatus;
  enabled: boolean;
  count: number;
}

/**
 * How many components have each status, of all or of those that desire a configuration; statuses are judged once for each standing (see
 * component-status.ts).
 */
export async function countComponents(db: Db, desiredConfig?: string): Promise<ComponentCount[]> {
  const options = await readOptions(db);
  const { rows } = await sql<ComponentCount>`
    with recursive ${judgedStandings({ options, desiredConfig })}, ${countedStandings(options, desiredConfig)}
    select ${STATUS_OF_COUNTED} as status, enabled, sum(count)::bigint as count
    from counted join judged on judged.standing = counted.standing group by 1, 2`.execute(db);
  return rows;
}

/** All but the components, which cost most. */
export type Counts = Omit<Gauges, 'components'>;
/**
 * `counted(standing, enabled, is_exhausted, count)`, a part of `with`. Components are counted before they are joined with anything: of a large
 * fleet that is a walk over one index, which several processes share.
 */
export function countedStandings(options: StatusOptions, desiredConfig?: string): RawBuilder<unknown> {
  const desired = desiredConfig === undefined ? sql`` : sql`where components.desired_config = ${desiredConfig}`;
  return sql`counted as materialized (
      select components.standing, components.enabled, ${exhausted(options)} as is_exhausted, count(*) as count
      from components ${desired} group by 1, 2, 3
    )`;
}

/** The status of a row of `counted` with that of `judged`. */
export const STATUS_OF_COUNTED = sql<ConfigurationStatus>`
  case when verdict <> 'behind' then verdict when is_exhausted then 'failed' else 'pending' end`;

/** All of it. */
export async function readGauges(db: Db, now: Date): Promise<Gauges> {
  return { ...(await readCounts(db, now)), components: await countComponents(db) };
}

/** Returns all but the components. */
export async function readCounts(db: Db, now: Date): Promise<Counts> {
  const since = (time: string) => sql`greatest(0, extract(epoch from ${now}::timestamptz - ${sql.raw(time)}))::float8`;
  const queued = sql`from sessions where stage = 'queued' and deleted_at is null`;
  const left = sql`extract(epoch from backoff_start + make_interval(secs => backoff_length) - ${now}::timestamptz)`;
  const { rows } = await sql<Counts>`
    select
      (select coalesce(jsonb_object_agg(status, count), '{}') from (
        select status, count(*) from sessions where deleted_at is null group by status) as counted) as sessions,
      (select count(*) ${queued}) as queued,
      (select coalesce(max(${since('created_at')}), 0) ${queued}) as "queuedSeconds",
      (select count(*) from sessions where stage = 'admitted') as admitted,
      (select count(*) from runs where state in ${literals(OPEN_RUN_STATES)}) as "activeRuns",
      (select coalesce(max(event_lag_ms), 0) / 1000.0 from runs where state = 'started')::float8 as "eventLag",
      (select coalesce(max(${since('heard_at')}), 0) from (
        select coalesce((select time from events where stream_id = runs.stream_id order by seq desc limit 1),
          started_at, created_at) as heard_at
        from runs where state = 'started') as heard) as "silentRun",
      (select count(*) from outbox) as undelivered,
      (select coalesce(max(${since('created_at')}), 0) from outbox) as "undeliveredSeconds",
      (select coalesce(jsonb_object_agg(state, count), '{}') from (
        select state, count(*) from batches where state <> 'ended' group by state) as counted) as batches,
      (select count(*) from batch_members) as "batchedComponents",
      (select greatest(0, coalesce(${left}, 0))::float8) as "backOff",
      (select count(*) from batch_keys where backoff_length > 0
        and backoff_start + make_interval(secs => backoff_length) > ${now}) as "keysInBackOff",
      (select count(*) from batch_holds
        where exists (select from batches where batches.key = batch_holds.key and state <> 'ended')) as "heldKeys",
      (select coalesce(jsonb_object_agg(state, count), '{}') from (
        select state, count(*) from rollouts where is_current group by state) as counted) as rollouts,
      (select coalesce(jsonb_object_agg(status, count), '{}') from (
        select status, count(*) from drift group by status) as counted) as drift,
      (select count(*) from schedules where (select state from schedule_runs where schedule_id = schedules.id
        and ended_at is not null order by ended_at desc limit 1) = 'failed') as "failedSchedules",
      (select extract(epoch from ${now}::timestamptz - min(checked_at))::float8 from drift) as "oldestCheck",
      (select coalesce(jsonb_object_agg(state, count), '{}') from (
        select case when paused then 'paused' else 'active' end as state, count(*) from schedules group by 1) as counted)
        as schedules,
      (select coalesce(jsonb_object_agg(state, count), '{}') from (
        select case when attempts = 0 then 'waiting' else 'retrying' end as state, count(*)
        from notifications where state = 'waiting' group by 1) as counted) as notifications,
      (select coalesce(max(${since('notifications.created_at')}), 0) from notifications
        join webhooks on webhooks.name = notifications.webhook and webhooks.enabled
        where state = 'waiting') as "oldestNotification",
      pg_database_size(current_database())::float8 as "databaseBytes",
      (select coalesce(bool_or(stopped_at is not null), false) from fleet_stop) as "isStopped",
      paused as "isPaused", ${since('last_pass_at')} as "sinceLastPass", last_pass_ms / 1000.0::float8 as "lastPassSeconds"
    from batcher_state
  `.execute(db);
  const row = rows[0];
  if (row === undefined) throw new Error('the batcher has no state');
  return row;
}
