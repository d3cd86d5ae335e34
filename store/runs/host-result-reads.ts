/** What hosts reached in a session: recorded results of ended runs, and task events of the one that goes on. */
import { type RawBuilder, sql } from 'kysely';
import type { HostResultWord } from '../../domain/runs/host-progress.ts';
import { OPEN_RUN_STATES } from '../../domain/runs/run-states.ts';
import type { HostCounts, HostStatus } from '../../domain/runs/schema.ts';
import type { Db } from '../connection/database.ts';
import { literals } from '../connection/literals.ts';
import { EVENT_COUNTS, EVENT_STATUS } from './event-results.ts';

/** One layer of one host; `running` while its run goes on. */
export interface HostLayerRow extends HostCounts {
  host: string;
  layer: number;
  attempt: number;
  status: HostResultWord;
  /** Of a check: how many of `changed` may come only of tasks that check mode skips. */
  uncertain: number;
  recorded: boolean;
  /** Why it failed, in one line; null where no task of it failed. */
  message: string | null;
}

/** At most `limit` names of hosts after one, by code point: those with a result, stored or as an event, and those of a play that have none. */
export async function readHostNames(db: Db, sessionId: string, after: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ host: string }>`
    select host from (
      (select distinct host collate "C" as host from host_results
        where session_id = ${sessionId} and host > ${after} order by 1 limit ${limit})
      union
      (select distinct host collate "C" from unreached_hosts
        where session_id = ${sessionId} and host > ${after} order by 1 limit ${limit})
      union
      (select distinct host collate "C" from events
        where stream_id = ${sessionId}::text and type = 'host_result' and host collate "C" > ${after}
        order by 1 limit ${limit})
    ) as names order by host collate "C" limit ${limit}
  `.execute(db);
  return rows.map((row) => row.host);
}

/** Whether a run `r` goes on, as far as its session `s` knows: of a complete session no host is at work. */
const GOES_ON = sql`coalesce(r.state in ${literals(OPEN_RUN_STATES)}, true) and s.status <> 'complete'`;

/**
 * The layers that these hosts took part in, in order, each with its latest attempt: stored results, and for runs without
 * stored results what their events say so far. That no task reached a host counts only where no attempt has a result of it.
 */
export async function readHostLayers(db: Db, sessionId: string, hosts: string[]): Promise<HostLayerRow[]> {
  if (hosts.length === 0) return [];
  const { rows } = await sql<HostLayerRow>`
    select distinct on (host, layer) * from (
      select host, layer, attempt, status, ok, changed, failures, unreachable, skipped, rescued, ignored, uncertain, recorded, message
      from host_results where session_id = ${sessionId} and host = any(${hosts})
      union all
      select e.host collate "C", e.layer, e.attempt,
        case when bool_or(${GOES_ON}) then 'running' else ${EVENT_STATUS} end, ${EVENT_COUNTS}, 0, false, null
      from events e join sessions s on s.id = ${sessionId} left join runs r on r.id = e.run_id
      where e.stream_id = ${sessionId}::text and e.host = any(${hosts}) and e.type = 'host_result'
        and not exists (select from host_results h where h.run_id = e.run_id and h.host = e.host collate "C")
      group by 1, 2, 3
      union all
      select host, layer, attempt, 'not_reached', 0, 0, 0, 0, 0, 0, 0, 0, false, null
      from unreached_hosts where session_id = ${sessionId} and host = any(${hosts})
    ) as parts
    order by host, layer, status = 'not_reached', attempt desc
  `.execute(db);
  return rows;
}

/**
 * Each host of a session with each of its layers by the latest attempt: of stored results, of the events of runs that ended without any (as
 * those of an older release), and of hosts that no task reached. Hosts of a run that goes on are not among them.
 */
const latestResults = (sessionId: string): RawBuilder<unknown> => sql`
  select distinct on (host, layer) host, layer, status, message from (
    select host, layer, attempt, status, message from host_results where session_id = ${sessionId}
    union all
    select e.host collate "C", e.layer, e.attempt, ${EVENT_STATUS}, null
    from runs r join sessions s on s.id = r.session_id join events e on e.run_id = r.id
    where r.session_id = ${sessionId} and not (${GOES_ON}) and e.type = 'host_result' and e.host is not null
      and not exists (select from host_results h where h.run_id = r.id)
    group by 1, 2, 3
    union all
    select host, layer, attempt, 'not_reached', null from unreached_hosts where session_id = ${sessionId}
  ) as parts order by host, layer, status = 'not_reached', attempt desc`;

/** Where a status stands among those of a host's layers, worst first. */
const RANK = sql`case status when 'failed' then 0 when 'incomplete' then 1 when 'not_reached' then 2 else 3 end`;

/** Each host of a session by its worst layer. */
const worstResults = (sessionId: string): RawBuilder<unknown> => sql`
  select distinct on (host) host, layer, status, message, ${RANK} as rank
  from (${latestResults(sessionId)}) as latest order by host, ${RANK}, layer`;

/** At most `limit` names of hosts after one, those that failed first, then those that were not finished or not reached, each by code point. */
export async function readHostNamesByResult(
  db: Db,
  sessionId: string,
  after: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ host: string }>`
    with worst as materialized (${worstResults(sessionId)})
    select host from worst
    where ${after} = '' or (rank, host) > (coalesce((select rank from worst where host = ${after}), 0), ${after} collate "C")
    order by rank, host limit ${limit}
  `.execute(db);
  return rows.map((row) => row.host);
}

/** Hosts that have task results among events of these numbers, sorted, at most `limit` after a name. */
export async function readHostsTouched(
  db: Db,
  sessionId: string,
  range: { above: number; upTo: number },
  after: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ host: string }>`
    select distinct host collate "C" as host from events
    where stream_id = ${sessionId}::text and seq > ${range.above} and seq <= ${range.upTo}
      and type = 'host_result' and host collate "C" > ${after}
    order by 1 limit ${limit}
  `.execute(db);
  return rows.map((row) => row.host);
}

/** A run whose results are stored, and when they were last written to. */
export interface RunResults {
  id: string;
  changedAt: Date | null;
}

/** Runs of the session whose results are stored, oldest first. */
export async function readRunsWithResults(db: Db, sessionId: string): Promise<RunResults[]> {
  const { rows } = await sql<RunResults>`
    select id, greatest(ended_at, recorded_at) as "changedAt" from runs r
    where session_id = ${sessionId} and (exists (select from host_results h where h.run_id = r.id)
      or exists (select from unreached_hosts u where u.run_id = r.id))
    order by created_at
  `.execute(db);
  return rows;
}

/** Hosts with a result in the run and those of its plays that have none, sorted, at most `limit` after a name. */
export async function readHostsOfRun(db: Db, runId: string, after: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ host: string }>`
    (select host from host_results where run_id = ${runId} and host > ${after} order by host limit ${limit})
    union
    (select host from unreached_hosts where run_id = ${runId} and host > ${after} order by host limit ${limit})
    order by host limit ${limit}
  `.execute(db);
  return rows.map((row) => row.host);
}

/** How many hosts ended how, each counted by its worst layer; none of those whose run goes on. */
export type HostTally = Record<HostStatus | 'not_reached', number>;

export async function countHostsByStatus(db: Db, sessionId: string): Promise<HostTally> {
  const { rows } = await sql<{ status: keyof HostTally; count: number }>`
    select status, count(*) as count from (${worstResults(sessionId)}) as worst group by status
  `.execute(db);
  const counts: HostTally = { applied: 0, failed: 0, incomplete: 0, not_reached: 0 };
  for (const row of rows) counts[row.status] = row.count;
  return counts;
}

/** How many hosts with stored results ended how in each of these sessions, each host by its worst layer of the latest attempt. */
export async function countHostsOfSessions(
  db: Db,
  sessionIds: readonly string[],
): Promise<Map<string, Record<HostStatus, number>>> {
  const { rows } = await sql<{ id: string; applied: number; failed: number; incomplete: number }>`
    select id, sum((worst = 3)::int)::int as applied, sum((worst = 0)::int)::int as failed,
      sum((worst = 1)::int)::int as incomplete
    from (
      select session_id as id, host, min(${RANK}) as worst
      from (
        select distinct on (session_id, host, layer) session_id, host, status
        from host_results where session_id = any(${[...sessionIds]}::uuid[])
        order by session_id, host, layer, attempt desc
      ) as latest group by session_id, host
    ) as hosts group by id
  `.execute(db);
  return new Map(rows.map(({ id, ...counts }) => [id, counts]));
}

/** Hosts of which a layer failed, sorted, at most `limit`. */
export async function readFailedHosts(db: Db, sessionId: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ host: string }>`
    select distinct host from (${latestResults(sessionId)}) as latest where status = 'failed' order by host limit ${limit}
  `.execute(db);
  return rows.map((row) => row.host);
}

/** What failures have in common: a message without the names and addresses of its host. */
const SAME_FAILURE = sql`regexp_replace(replace(message, host, '*'), '[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+', '*', 'g')`;

/** What most of the failed hosts of a run say; null when none says anything. */
export async function commonFailure(db: Db, runId: string): Promise<string | null> {
  const { rows } = await sql<{ message: string }>`
    select (array_agg(message order by host))[1] as message from host_results
    where run_id = ${runId} and status = 'failed' and message is not null
    group by ${SAME_FAILURE} order by count(*) desc, min(host) limit 1
  `.execute(db);
  return rows[0]?.message ?? null;
}

/** Groups of failed hosts that are told, and names of each. */
const GROUPS = 20;
const NAMES = 10;

/** Hosts that failed alike: what the first of them says, how many they are and the first few names, the largest group first. */
export async function readFailures(
  db: Db,
  sessionId: string,
): Promise<{ message: string; count: number; hosts: string[] }[]> {
  const { rows } = await sql<{ message: string | null; count: number; hosts: string[] }>`
    select (array_agg(message order by host))[1] as message, count(*) as count, (array_agg(host order by host))[1:${sql.lit(NAMES)}] as hosts
    from (${worstResults(sessionId)}) as worst where status = 'failed'
    group by ${SAME_FAILURE} order by count(*) desc, min(host) limit ${GROUPS}
  `.execute(db);
  return rows.map(({ message, ...row }) => ({ ...row, message: message ?? 'its events say why' }));
}

/**
 * Hosts that some layer was not applied to, with the first such layer, sorted. A host counts by its latest attempt of each
 * layer; one that no task reached counts too.
 */
export async function readHostsNotApplied(db: Db, sessionId: string): Promise<{ host: string; layer: number }[]> {
  const { rows } = await sql<{ host: string; layer: number }>`
    select host, min(layer) as layer from (${latestResults(sessionId)}) as latest
    where status <> 'applied' group by host order by host collate "C"
  `.execute(db);
  return rows;
}

export interface RecordedResult {
  host: string;
  layer: number;
  status: HostStatus;
  /** Its run ended without statistics. */
  brokeOff: boolean;
}

/** What the session recorded on components: of each host and layer the latest attempt, hosts in order. */
export async function readRecordedResults(db: Db, sessionId: string): Promise<RecordedResult[]> {
  const { rows } = await sql<RecordedResult>`
    select distinct on (host, layer) host, layer, status, from_events as "brokeOff" from host_results
    where session_id = ${sessionId} and recorded order by host, layer, attempt desc`.execute(db);
  return rows;
}

/** Hosts of the session's plays that no task of any run reached, sorted. */
export async function readHostsNotReached(db: Db, sessionId: string): Promise<string[]> {
  const { rows } = await sql<{ host: string }>`
    select distinct host from unreached_hosts u where session_id = ${sessionId}
      and not exists (select from host_results h where h.session_id = ${sessionId} and h.host = u.host)
    order by host`.execute(db);
  return rows.map((row) => row.host);
}
