/** What hosts reached in a session: recorded results of ended runs, and task events of the one that goes on. */
import { sql } from 'kysely';
import type { HostStatus } from '../domain/runs/schema.ts';
import type { Db } from './database.ts';

/** One layer of one host; `running` until the run's results are stored. */
export interface HostLayerRow {
  host: string;
  layer: number;
  attempt: number;
  status: HostStatus | 'running';
  ok: number;
  changed: number;
  failures: number;
  unreachable: number;
  skipped: number;
  rescued: number;
  ignored: number;
  recorded: boolean;
}

/** At most `limit` names of hosts after one, by code point: those with a result, stored or as an event. */
export async function readHostNames(db: Db, sessionId: string, after: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ host: string }>`
    select host from (
      (select distinct host collate "C" as host from host_results
        where session_id = ${sessionId} and host > ${after} order by 1 limit ${limit})
      union
      (select distinct host collate "C" from events
        where stream_id = ${sessionId}::text and type = 'host_result' and host collate "C" > ${after}
        order by 1 limit ${limit})
    ) as names order by host collate "C" limit ${limit}
  `.execute(db);
  return rows.map((row) => row.host);
}

/**
 * The layers that these hosts took part in, in order, each with its latest attempt: stored results, and for runs without
 * stored results what their events say so far.
 */
export async function readHostLayers(db: Db, sessionId: string, hosts: string[]): Promise<HostLayerRow[]> {
  if (hosts.length === 0) return [];
  const { rows } = await sql<HostLayerRow>`
    select distinct on (host, layer) * from (
      select host, layer, attempt, status, ok, changed, failures, unreachable, skipped, rescued, ignored, recorded
      from host_results where session_id = ${sessionId} and host = any(${hosts})
      union all
      select e.host collate "C", e.layer, e.attempt, 'running',
        (count(*) filter (where e.data->>'result' in ('ok', 'changed', 'ignored')))::int,
        (count(*) filter (where e.data->>'result' = 'changed'))::int,
        (count(*) filter (where e.data->>'result' = 'failed'))::int,
        (count(*) filter (where e.data->>'result' = 'unreachable'))::int,
        (count(*) filter (where e.data->>'result' = 'skipped'))::int,
        0,
        (count(*) filter (where e.data->>'result' = 'ignored'))::int,
        false
      from events e
      where e.stream_id = ${sessionId}::text and e.host = any(${hosts}) and e.type = 'host_result'
        and not exists (select from host_results r where r.run_id = e.run_id)
      group by 1, 2, 3
    ) as parts
    order by host, layer, attempt desc
  `.execute(db);
  return rows;
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
    where session_id = ${sessionId} and exists (select from host_results h where h.run_id = r.id)
    order by created_at
  `.execute(db);
  return rows;
}

/** Hosts with a result in the run, sorted, at most `limit` after a name. */
export async function readHostsOfRun(db: Db, runId: string, after: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('host_results')
    .select('host')
    .where('run_id', '=', runId)
    .where('host', '>', after)
    .orderBy('host')
    .limit(limit)
    .execute();
  return rows.map((row) => row.host);
}

/** How many hosts ended how, each counted by its worst layer. */
export async function countHostsByStatus(db: Db, sessionId: string): Promise<Record<HostStatus, number>> {
  const { rows } = await sql<{ status: HostStatus; count: number }>`
    select status, count(*) as count from (
      select distinct on (host) host, status from (
        select distinct on (host, layer) host, layer, status from host_results
        where session_id = ${sessionId} order by host, layer, attempt desc
      ) as latest
      order by host, case status when 'failed' then 0 when 'incomplete' then 1 else 2 end
    ) as worst group by status
  `.execute(db);
  const counts: Record<HostStatus, number> = { applied: 0, failed: 0, incomplete: 0 };
  for (const row of rows) counts[row.status] = row.count;
  return counts;
}

/**
 * Hosts that some layer was not applied to, with the first such layer, sorted. A host counts by its latest attempt of each
 * layer; in a run whose results were never stored (lost, or ended by a cancel) every host that was seen counts.
 */
export async function readHostsNotApplied(db: Db, sessionId: string): Promise<{ host: string; layer: number }[]> {
  const { rows } = await sql<{ host: string; layer: number }>`
    select host, min(layer) as layer from (
      select distinct on (host, layer) host, layer, status from (
        select host, layer, attempt, status from host_results where session_id = ${sessionId}
        union all
        select distinct e.host collate "C", e.layer, e.attempt, 'lost' from events e
        where e.stream_id = ${sessionId}::text and e.type = 'host_result' and e.host is not null
          and not exists (select from host_results r where r.run_id = e.run_id)
      ) as parts order by host, layer, attempt desc
    ) as latest where status <> 'applied' group by host order by host collate "C"
  `.execute(db);
  return rows;
}

/** What the session recorded on components: of each host and layer the latest attempt, hosts in order. */
export async function readRecordedResults(
  db: Db,
  sessionId: string,
): Promise<{ host: string; layer: number; status: HostStatus }[]> {
  const { rows } = await sql<{ host: string; layer: number; status: HostStatus }>`
    select distinct on (host, layer) host, layer, status from host_results
    where session_id = ${sessionId} and recorded order by host, layer, attempt desc`.execute(db);
  return rows;
}
