/** What the last check found of every component; an entry of a layer goes when the layer is run for real. */
import { type RawBuilder, sql } from 'kysely';
import type { CheckCounts, DriftStatus } from '../../domain/components/drift-schema.ts';
import type { TaskChange } from '../../domain/runs/schema.ts';
import type { Db } from '../connection/database.ts';

export interface DriftReport {
  runId: string;
  sessionId: string;
  sessionName: string;
  configuration: string;
  layer: number;
  cloneUrl: string;
  playbook: string;
  commit: string;
  /** All layers of the configuration where the session checks all of them, else null. */
  allLayers: { url: string; playbook: string }[] | null;
  now: Date;
}

/**
 * Writes what the run found to the components that its results name, in one statement. A component's entries are of one
 * configuration, the one that it was checked against last: those of another go, and those of layers that it has no more.
 */
export async function reportDrift(db: Db, report: DriftReport): Promise<void> {
  const { runId, configuration, allLayers } = report;
  const past = sql`drift.configuration <> ${configuration} or ${allLayers === null ? sql`false` : notAmong(allLayers)}`;
  await sql`
    with found as (
      select r.host, r.changed - r.uncertain as changed, r.uncertain, r.changes, r.changes_left_out, case
        when r.unreachable > 0 then 'unreachable'
        when r.status <> 'applied' then 'failed'
        when r.changed > r.uncertain then 'drifted'
        else 'in_sync' end as status
      from components c join host_results r on r.host = c.id and r.run_id = ${runId} order by c.id for key share of c
    ), gone as (
      delete from drift using found
      where drift.component_id = found.host and (${past})
        and drift.layer_id <> layer_key(${report.cloneUrl}, ${report.playbook}, '')
    ), kept as (
      insert into drift (component_id, clone_url, playbook, commit, configuration, layer, status, changed, changes,
        changes_left_out, uncertain, session_id, session_name, checked_at)
      select host, ${report.cloneUrl}, ${report.playbook}, ${report.commit}, ${configuration}, ${report.layer}::int, status,
        changed, coalesce(changes, '[]'), changes_left_out, uncertain, ${report.sessionId}::uuid, ${report.sessionName},
        ${report.now}::timestamptz
      from found order by host
      on conflict (component_id, layer_id) do update set commit = excluded.commit, configuration = excluded.configuration,
        layer = excluded.layer, status = excluded.status, changed = excluded.changed, changes = excluded.changes,
        changes_left_out = excluded.changes_left_out, uncertain = excluded.uncertain, session_id = excluded.session_id,
        session_name = excluded.session_name, checked_at = excluded.checked_at
      returning component_id
    )
    update host_results r set recorded = true, changes = null from kept
    where r.run_id = ${runId} and r.host = kept.component_id
  `.execute(db);
}

function notAmong(layers: readonly { url: string; playbook: string }[]): RawBuilder<boolean> {
  return sql<boolean>`not exists (
    select from jsonb_to_recordset(${JSON.stringify(layers)}::jsonb) as l(url text, playbook text)
    where layer_key(l.url, l.playbook, '') = drift.layer_id
  )`;
}

/** Forgets what checks found in a layer of the hosts that a run has recorded: it ran, so all of it may be otherwise now. */
export async function forgetDrift(
  db: Db,
  { runId, cloneUrl, playbook }: { runId: string; cloneUrl: string; playbook: string },
): Promise<void> {
  await sql`
    delete from drift using host_results r
    where r.run_id = ${runId} and r.recorded and drift.component_id = r.host
      and drift.layer_id = layer_key(${cloneUrl}, ${playbook}, '')
  `.execute(db);
}

/** How many hosts a session's checks saw, each counted by its worst layer in the latest attempt. */
export async function countChecked(db: Db, sessionId: string): Promise<CheckCounts> {
  const { rows } = await sql<CheckCounts>`
    select count(*) as hosts, count(*) filter (where unclear) as unclear,
      count(*) filter (where changed and not unclear) as drifted
    from (
      select host, bool_or(status <> 'applied') as unclear, bool_or(has_changed) as changed from (
        select distinct on (host, layer) host, status, changed > uncertain as has_changed from host_results
        where session_id = ${sessionId} order by host, layer, attempt desc
      ) as latest group by host
    ) as checked
  `.execute(db);
  return rows[0] ?? { hosts: 0, drifted: 0, unclear: 0 };
}

/**
 * Takes the layers that a check found drifted out of the states of their components, so that they are to be configured again.
 * Left alone is a component that desires something else by now: another configuration, or another commit of the layer.
 * Answers the ids of those that were changed, sorted.
 */
export async function clearDrifted(
  db: Db,
  sessionId: string,
  { defaultPlaybook, actor, now }: { defaultPlaybook: string; actor: string; now: Date },
): Promise<string[]> {
  const due = (condition: RawBuilder<boolean>) => sql<boolean>`exists (
    select from drift d
    join configurations k on k.name = d.configuration
    cross join lateral jsonb_array_elements(k.record -> 'layers') as listed(layer)
    left join sources s on s.name = listed.layer ->> 'source'
    where d.component_id = c.id and d.session_id = ${sessionId} and d.status = 'drifted'
      and d.configuration = c.desired_config and listed.layer ->> 'commit' = d.commit
      and coalesce(s.record ->> 'clone_url', listed.layer ->> 'clone_url') = d.clone_url
      and coalesce(nullif(listed.layer ->> 'playbook', ''), ${defaultPlaybook}) = d.playbook and ${condition}
  )`;
  const entry = sql<boolean>`state.entry ->> 'clone_url' = d.clone_url and state.entry ->> 'playbook' = d.playbook
    and state.entry ->> 'commit' = d.commit and state.entry ->> 'status' in ('applied', 'skipped')`;
  const { rows } = await sql<{ id: string }>`
    with target as (
      select c.id from components c where c.id in (select component_id from drift where session_id = ${sessionId})
        and ${due(sql<boolean>`exists (select from jsonb_array_elements(c.state) as state(entry) where ${entry})`)}
      order by c.id for update of c
    )
    update components c set
      state = coalesce((
        select jsonb_agg(state.entry order by state.place)
        from jsonb_array_elements(c.state) with ordinality as state(entry, place) where not ${due(entry)}
      ), '[]'), updated_at = ${now}, actor = ${actor}
    from target where c.id = target.id
    returning c.id
  `.execute(db);
  return rows.map((row) => row.id).sort();
}

/** One layer of one component; `changes` only where they were asked for. */
export interface DriftRow {
  id: string;
  configuration: string;
  layer: number;
  clone_url: string;
  playbook: string;
  commit: string;
  status: DriftStatus;
  changed: number;
  changes: TaskChange[];
  changes_left_out: number;
  uncertain: number;
  session_name: string;
  checked_at: Date;
}

export interface DriftSelection {
  status?: DriftStatus | undefined;
  configuration?: string | undefined;
  ids?: readonly string[] | undefined;
}

/** Statuses that outweigh one on another layer. */
const WORSE: Record<DriftStatus, DriftStatus[]> = {
  unreachable: [],
  failed: ['unreachable'],
  drifted: ['unreachable', 'failed'],
  in_sync: ['unreachable', 'failed', 'drifted'],
};

/** The ids of at most `limit` components after one, by code point, whose worst layer has the status. */
export async function listDriftIds(db: Db, selection: DriftSelection, after: string, limit: number): Promise<string[]> {
  const { status, configuration, ids } = selection;
  let query = db
    .selectFrom('drift')
    .select('component_id')
    .distinct()
    .where('component_id', '>', after)
    .orderBy('component_id')
    .limit(limit);
  if (configuration !== undefined) query = query.where('configuration', '=', configuration);
  if (ids !== undefined) query = query.where(sql<boolean>`component_id = any(${ids})`);
  if (status !== undefined) {
    query = query.where('status', '=', status).where(
      sql<boolean>`not exists (select from drift worse where worse.component_id = drift.component_id
        and worse.status = any(${WORSE[status]}))`,
    );
  }
  return (await query.execute()).map((row) => row.component_id);
}

/** The layers of these components in the order of the configuration, components by id. */
export async function findDrift(db: Db, ids: readonly string[], withChanges: boolean): Promise<DriftRow[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom('drift')
    .select([
      'component_id as id',
      'configuration',
      'layer',
      'clone_url',
      'playbook',
      'commit',
      'status',
      'changed',
      withChanges ? 'changes' : sql<TaskChange[]>`'[]'::jsonb`.as('changes'),
      'changes_left_out',
      'uncertain',
      'session_name',
      'checked_at',
    ])
    .where('component_id', '=', sql<string>`any(${ids})`)
    .orderBy('component_id')
    .orderBy('layer')
    .orderBy('layer_id')
    .execute();
}
