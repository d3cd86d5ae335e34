/** How a run's results come to the components. */
import { sql } from 'kysely';
import { MAX_COMPONENT_BYTES, MAX_STATE_ENTRIES } from '../../domain/components/component-size.ts';
import type { Db } from '../connection/database.ts';

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
 * the layer is incomplete and nothing is counted (cfs-flows 8.13). Answers those that exist.
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
