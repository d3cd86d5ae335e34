/** What each host reached in a run, and the components that took it. */
import { sql } from 'kysely';
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

/** Returns how many hosts of a run have results, and their tasks added up. */
export async function sumHostResults(
  db: Db,
  runId: string,
): Promise<{ hosts: number; changed: number; failures: number; unreachable: number }> {
  const query = db.selectFrom('host_results').where('run_id', '=', runId);
  return query
    .select((eb) => [
      eb.fn.countAll<number>().as('hosts'),
      sql<number>`coalesce(sum(changed), 0)::int`.as('changed'),
      sql<number>`coalesce(sum(failures), 0)::int`.as('failures'),
      sql<number>`coalesce(sum(unreachable), 0)::int`.as('unreachable'),
    ])
    .executeTakeFirstOrThrow();
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
