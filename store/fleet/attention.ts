/** What of the fleet needs a person, as the tables have it. */
import { sql } from 'kysely';
import type { FailureGroup, Trouble } from '../../domain/fleet/attention.ts';
import { exhausted, judgedStandings } from '../components/component-status.ts';
import { readOptions } from '../configurations/options.ts';
import type { Db } from '../connection/database.ts';

/** Different messages that are told apart at most, and records of each other kind. */
const [MESSAGES, RECORDS] = [1_000, 100];

/** Groups the components that have failed by the last message of each. Deleted sessions say nothing any more. */
export async function groupFailures(db: Db): Promise<FailureGroup[]> {
  const options = await readOptions(db);
  const { rows } = await sql<FailureGroup>`
    with recursive ${judgedStandings({ options })}, failed as (
      select components.id, components.updated_at
      from components join judged on judged.standing = components.standing
      where judged.verdict = 'behind' and ${exhausted(options)}
    ), last as (
      select failed.id, result.message, result.session, coalesce(result.at, failed.updated_at) as at
      from failed left join lateral (
        select r.stored_at as at, jsonb_build_object('id', s.id, 'name', s.name) as session,
          coalesce(r.message, case when r.from_events then (select error from runs where runs.id = r.run_id) end) as message
        from host_results r join sessions s on s.id = r.session_id and s.deleted_at is null
        where r.host = failed.id and r.status = 'failed' order by r.stored_at desc, r.run_id desc limit 1
      ) as result on true
    )
    select message, count(*)::int as count, min(at) as since, max(at) as latest,
      (array_agg(id order by at desc, id))[1] as host, (array_agg(session order by at desc, id))[1] as session
    from last group by message order by count(*) desc, min(id) limit ${MESSAGES}`.execute(db);
  return rows;
}

/** Sessions that hold, rollouts that were stopped, schedules whose last run failed, and keys that wait after a failure. */
export async function readTrouble(db: Db, now: Date): Promise<Omit<Trouble, 'failures'>> {
  const [held, rollouts, schedules, backoffs] = await Promise.all([
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
  ]);
  return { held, rollouts, schedules: schedules.rows, backoffs: backoffs.rows };
}
