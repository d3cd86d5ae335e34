/** What components that have failed did so with last. */
import { type RawBuilder, sql } from 'kysely';
import type { FailureGroup } from '../../domain/components/failure-group.ts';
import type { StatusOptions } from '../../domain/components/status.ts';
import { readOptions } from '../configurations/options.ts';
import type { Db } from '../connection/database.ts';
import { exhausted, judgedStandings } from './component-status.ts';

/**
 * `last(id, message, session, at)` of all components that have failed, a part of `with recursive`. Deleted sessions say nothing any more: message and
 * session are null then.
 */
function lastFailures(options: StatusOptions): RawBuilder<unknown> {
  return sql`${judgedStandings({ options })}, failed as (
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
    )`;
}

/** Different messages that are told apart at most. */
const MESSAGES = 1_000;

/** Groups the components that have failed by the last message of each, most first. */
export async function groupFailures(db: Db): Promise<FailureGroup[]> {
  const options = await readOptions(db);
  const { rows } = await sql<FailureGroup>`
    with recursive ${lastFailures(options)}
    select message, count(*)::int as count, min(at) as since, max(at) as latest,
      (array_agg(id order by at desc, id))[1] as host, (array_agg(session order by at desc, id))[1] as session
    from last group by message order by count(*) desc, min(id) limit ${MESSAGES}`.execute(db);
  return rows;
}

/** Returns the ids of the components that have failed, the last time with one of these messages; null: with none. */
export async function idsFailedWith(db: Db, messages: readonly (string | null)[]): Promise<string[]> {
  const options = await readOptions(db);
  const { rows } = await sql<{ id: string }>`
    with recursive ${lastFailures(options)}
    select id from last where message = any(${messages.filter((message) => message !== null)})
      or (${messages.includes(null)} and message is null)
    order by id`.execute(db);
  return rows.map(({ id }) => id);
}
