/** What each host reached in a run, and the components that took it. */
import { sql } from 'kysely';
import { MAX_COMPONENT_BYTES, MAX_STATE_ENTRIES } from '../../domain/components/component-size.ts';
import type { HostResult } from '../../domain/runs/schema.ts';
import type { Db } from '../connection/database.ts';

/** Stores results of a run; one that is stored already stays as it is, unless it was made from events and is not recorded. */
export async function insertHostResults(
  db: Db,
  run: { runId: string; sessionId: string | null; layer: number; attempt: number },
  results: HostResult[],
): Promise<void> {
  if (results.length === 0) return;
  await sql`
    insert into host_results
      (run_id, session_id, layer, attempt, host, status, ok, changed, failures, unreachable, skipped, rescued, ignored,
        changes, changes_left_out, uncertain)
    select ${run.runId}, ${run.sessionId}::uuid, ${run.layer}::int, ${run.attempt}::int, new.host, new.status, new.ok,
      new.changed, new.failures, new.unreachable, new.skipped, new.rescued, new.ignored, new.changes,
      coalesce(new.changes_left_out, 0), least(coalesce(new.uncertain, 0), new.changed)
    from jsonb_to_recordset(${JSON.stringify(results)}::jsonb) as new(host text, status text, ok int, changed int,
      failures int, unreachable int, skipped int, rescued int, ignored int, changes jsonb, changes_left_out int, uncertain int)
    on conflict (run_id, host) do update set status = excluded.status, ok = excluded.ok, changed = excluded.changed,
      failures = excluded.failures, unreachable = excluded.unreachable, skipped = excluded.skipped,
      rescued = excluded.rescued, ignored = excluded.ignored, changes = excluded.changes,
      changes_left_out = excluded.changes_left_out, uncertain = excluded.uncertain, from_events = false
      where host_results.from_events and not host_results.recorded
  `.execute(db);
}

/** Room, bytes, for the members of a component beside its state and tags: an id of 600 characters and names. */
const SMALL_MEMBERS = 8_192;

export interface LayerReport {
  sessionName: string;
  cloneUrl: string;
  playbook: string;
  commit: string;
  runId: string;
  now: Date;
}

/** A component that took a result, and whether it has booted since the session was let in. */
export interface ReportedHost {
  id: string;
  hasBooted: boolean;
  /** Whether its record has become larger than a component may be. */
  isLarge?: true;
}

/**
 * Reports the layer to the components that its results name, in one statement: the old entry of the same repository and playbook
 * goes, the new one becomes the last; `error_count` is counted up for a failure, cleared for a success and left alone
 * when the playbook was broken off (cfs-flows 4.4, cfs-api 6.3). On a component that has booted since the session was let in
 * the layer is incomplete and nothing is counted (cfs-flows 8, 13). Answers those that exist.
 */
export async function reportLayer(db: Db, report: LayerReport): Promise<ReportedHost[]> {
  const entry = {
    clone_url: report.cloneUrl,
    playbook: report.playbook,
    commit: report.commit,
    session_name: report.sessionName,
    last_updated: `${report.now.toISOString().slice(0, 19)}Z`,
  };
  const { rows } = await sql<{ id: string; hasBooted: boolean; isLarge: boolean }>`
    with target as (
      select c.id, old.has_booted, case when old.has_booted then 'incomplete' else r.status end as status
      from components c
      join host_results r on r.host = c.id and r.run_id = ${report.runId}
      left join sessions on sessions.id = r.session_id
      cross join lateral (
        select (coalesce(sessions.admitted_at, sessions.created_at) <= c.booted_at) is true as has_booted
      ) old
      order by c.id for update of c
    ), changed as (
      update components c set
        state = coalesce((
          select jsonb_agg(s.entry order by s.place)
          from jsonb_array_elements(c.state) with ordinality as s(entry, place)
          where (s.entry->>'clone_url' = ${report.cloneUrl} and s.entry->>'playbook' = ${report.playbook}) is not true
        ), '[]') || jsonb_build_array(${JSON.stringify(entry)}::jsonb || jsonb_build_object('status', target.status)),
        error_count = case target.status when 'failed' then c.error_count + 1 when 'applied' then 0 else c.error_count end,
        updated_at = ${report.now}, actor = ${`session/${report.sessionName}`}
      from target where c.id = target.id
      returning c.id, target.has_booted, target.status, jsonb_array_length(c.state) > ${MAX_STATE_ENTRIES}
        or octet_length(c.state::text) + octet_length(c.tags::text) > ${MAX_COMPONENT_BYTES - SMALL_MEMBERS} as is_large
    )
    update host_results r set recorded = true, taken_as = changed.status from changed
    where r.run_id = ${report.runId} and r.host = changed.id
    returning r.host as id, changed.has_booted as "hasBooted", changed.is_large as "isLarge"
  `.execute(db);
  return rows.map(({ isLarge, ...host }) => (isLarge ? { ...host, isLarge } : host));
}

/**
 * Hosts that have not reached a session's layer in the attempts before one, sorted: their last result is not `applied`, or they have none
 * and a play was for them.
 */
export async function unsuccessfulHosts(
  db: Db,
  { sessionId, layer, before }: { sessionId: string; layer: number; before: number },
): Promise<string[]> {
  const { rows } = await sql<{ host: string }>`
    select host from (
      select distinct on (host) host, status from (
        select host, attempt, status from host_results where session_id = ${sessionId} and layer = ${layer}
        union all
        select host, attempt, 'not_reached' from unreached_hosts where session_id = ${sessionId} and layer = ${layer}
      ) as results where attempt < ${before} order by host, status = 'not_reached', attempt desc
    ) as latest where status <> 'applied' order by host
  `.execute(db);
  return rows.map((row) => row.host);
}

/** Hosts of a run for which there is no component, sorted, at most `limit`. */
export async function unknownHosts(db: Db, runId: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('host_results')
    .select('host')
    .where('run_id', '=', runId)
    .where('recorded', '=', false)
    .orderBy('host')
    .limit(limit)
    .execute();
  return rows.map((row) => row.host);
}

/** Hosts of a run with results, and how many of them failed; and whether it ended without statistics of its own. */
export async function countHostResults(
  db: Db,
  runId: string,
): Promise<{ hosts: number; failedHosts: number; brokeOff: boolean }> {
  const row = await db
    .selectFrom('host_results')
    .select((eb) => [
      eb.fn.countAll<number>().as('hosts'),
      eb.fn.countAll<number>().filterWhere('status', '=', 'failed').as('failedHosts'),
      sql<boolean>`coalesce(bool_or(from_events), false)`.as('brokeOff'),
    ])
    .where('run_id', '=', runId)
    .executeTakeFirstOrThrow();
  return row;
}
