/** What the stored events of a run say of its hosts: results of a run that ended without statistics, and hosts that it never reached. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connection/database.ts';

interface Run {
  runId: string;
  sessionId: string | null;
  layer: number;
  attempt: number;
}

const countOf = (name: string, condition: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(count(*) filter (where ${condition}))::int as ${sql.id(name)}`;
const word = (...words: string[]): RawBuilder<unknown> =>
  sql`e.data->>'result' in (${sql.join(words.map((each) => sql.lit(each)))})`;

/** The task results of a host among events `e`, counted as Ansible's own statistics count them. */
export const EVENT_COUNTS = sql.join([
  countOf('ok', word('ok', 'changed', 'ignored')),
  countOf('changed', sql`${word('changed')} or (${word('ignored')} and e.data->>'changed' = 'true')`),
  countOf('failures', word('failed')),
  countOf('unreachable', word('unreachable')),
  countOf('skipped', word('skipped')),
  countOf('rescued', word('rescued')),
  countOf('ignored', word('ignored')),
]);

/** What a host reached whose run came to no statistics: nobody knows whether it was done with it. */
export const EVENT_STATUS = sql`case when bool_or(${word('failed', 'unreachable')}) then 'failed' else 'incomplete' end`;

/**
 * Makes the results of a run's hosts from what is stored of it, where nobody handed results in: from its final statistics if they are among
 * its events, else from the results of its tasks. Harmless for a run that has results.
 */
export async function insertResultsFromEvents(
  db: Db,
  { runId, sessionId, layer, attempt }: Run,
  { byStatistics }: { byStatistics: boolean },
): Promise<void> {
  const place = sql`${runId}, ${sessionId}::uuid, ${layer}::int, ${attempt}::int`;
  await sql`
    insert into host_results
      (run_id, session_id, layer, attempt, host, from_events, status, ok, changed, failures, unreachable, skipped, rescued, ignored)
    with statistics as (
      select s.host, false as from_events,
        case when c.failures > 0 or c.unreachable > 0 then 'failed'
          when e.data->>'broken_off' = 'true' then 'incomplete' else 'applied' end as status, c.*
      from events e cross join jsonb_each(e.data->'hosts') as s(host, counts)
      cross join lateral jsonb_to_record(s.counts) as c(ok int, changed int, failures int, unreachable int, skipped int,
        rescued int, ignored int)
      where ${byStatistics} and e.run_id = ${runId} and e.type = 'stats' and jsonb_typeof(e.data->'hosts') = 'object'
    ), tasks as (
      select e.host, true as from_events, ${EVENT_STATUS} as status, ${EVENT_COUNTS}
      from events e
      where e.run_id = ${runId} and e.type = 'host_result' and e.host is not null and not exists (select from statistics)
      group by e.host
    )
    select ${place}, found.* from (select * from statistics union all select * from tasks) as found
    where not exists (select from host_results where run_id = ${runId})
    on conflict (run_id, host) do nothing
  `.execute(db);
}

/** Notes the hosts of the run's plays that have no result. Harmless to repeat. */
export async function insertUnreachedHosts(db: Db, { runId, sessionId, layer, attempt }: Run): Promise<void> {
  await sql`
    insert into unreached_hosts (run_id, session_id, layer, attempt, host)
    select distinct ${runId}, ${sessionId}::uuid, ${layer}::int, ${attempt}::int, target.host
    from events e cross join jsonb_array_elements_text(e.data->'hosts') as target(host)
    where e.run_id = ${runId} and e.type = 'targets' and jsonb_typeof(e.data->'hosts') = 'array'
      and not exists (select from host_results r where r.run_id = ${runId} and r.host = target.host)
    on conflict do nothing
  `.execute(db);
}

/** Notes why each host of the run failed: the last of its tasks that did, in the words of its event. */
export async function noteHostMessages(db: Db, runId: string): Promise<void> {
  await sql`
    update host_results r set message = last.message from (
      select distinct on (e.host) e.host, left(concat_ws(': ', nullif(e.data->>'task', ''), case
        when e.data->>'censored' = 'true' then 'hidden by no_log'
        else coalesce(e.data->>'reason', regexp_replace(left(e.data->>'message', 300), '\\s+', ' ', 'g'),
          e.data->>'result') end) || coalesce(' (' || (e.data->>'file') || ')', ''), 1000) as message
      from events e
      where e.run_id = ${runId} and e.type = 'host_result' and ${word('failed', 'unreachable')}
      order by e.host, e.line desc
    ) as last
    where r.run_id = ${runId} and r.host = last.host and r.status = 'failed'
  `.execute(db);
}
