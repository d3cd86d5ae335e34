/** The status of components in SQL: the rule of `domain/components/status.ts`, for filters over very many of them. */
import { type RawBuilder, sql } from 'kysely';
import type { Component, ConfigurationStatus } from '../../domain/components/schema.ts';
import type { StatusOptions } from '../../domain/components/status.ts';
import type { Db } from '../connection/database.ts';
import { COLUMNS, type ComponentSelection, restricted, toComponent } from './components.ts';

export interface StatusSelection extends ComponentSelection {
  status: ConfigurationStatus;
  options: StatusOptions;
}

/**
 * At most `limit` components of a status after an id, by code point. Every standing that there is (see migration 0002) is judged
 * once, against configurations, sources and options as they are now; its components are then read off an index. So the
 * time goes with the number of standings, which is that of distinct sets of reached layers, not with that of components.
 */
export async function pageComponentsByStatus(
  db: Db,
  selection: StatusSelection,
  afterId: string,
  limit: number,
): Promise<Component[]> {
  const rows = await pageQuery(db, selection, afterId, limit).execute();
  return rows.map(toComponent);
}

/**
 * The same, locked until the transaction ends, in the order of ids. One that another writer changed meanwhile comes as it is
 * after that, maybe with another status.
 */
export async function lockComponentsByStatus(
  trx: Db,
  selection: StatusSelection,
  afterId: string,
  limit: number,
): Promise<Component[]> {
  const rows = await pageQuery(trx, selection, afterId, limit).forUpdate().execute();
  return rows.map(toComponent);
}

function pageQuery(db: Db, selection: StatusSelection, afterId: string, limit: number) {
  const ids = sql<string>`any(array(${pageOfIds(selection, afterId, limit)}))`;
  return db.selectFrom('components').select(COLUMNS).where('id', '=', ids).orderBy('id');
}

/**
 * Few matching standings are read each by itself, and their pages merged. Of many nearly all of it would be thrown away:
 * then components are read in the order of their ids until there are enough whose standing is among them. Of the two
 * halves of the union only one runs.
 */
function pageOfIds(selection: StatusSelection, afterId: string, limit: number): RawBuilder<unknown> {
  const others = sql.join([sql`true`, ...triesUsedUp(selection), ...restricted(selection)], sql` and `);
  // Comparing both columns in the order of both leaves the planner no other index to walk along; `is true` keeps it from
  // turning the look-up into a join that reads everything.
  return sql`
    with recursive ${judgedStandings(selection)}, matching as materialized (
      select standing from judged where verdict = ${verdictOf(selection.status)}
    ), amount as materialized (select count(*) > ${FEW} as is_large from matching)
    select id from (
      (select page.id from matching cross join lateral (
        select components.id from components
        where (components.standing, components.id) > (matching.standing, ${afterId})
          and components.standing <= matching.standing and ${others}
        order by components.standing, components.id limit ${limit}
      ) page where not (select is_large from amount) order by page.id limit ${limit})
      union all
      (select components.id from components
      where (select is_large from amount) and components.id > ${afterId}
        and (components.standing in (select standing from matching)) is true and ${others}
      order by components.id limit ${limit})
    ) as found
    order by id limit ${limit}`;
}

/** Ids and statuses of the components that match, in the order of their ids. Judges each standing once, so that it goes for very many. */
export async function statusesOfComponents(
  db: Db,
  selection: ComponentSelection & { status?: ConfigurationStatus | undefined; options: StatusOptions },
): Promise<{ id: string; status: ConfigurationStatus }[]> {
  const { rows } = await sql<{ id: string; status: ConfigurationStatus }>`
    with recursive ${judgedComponents(selection)}
    select id, case when verdict <> 'behind' then verdict when is_exhausted then 'failed' else 'pending' end as status
    from matching order by id`.execute(db);
  return rows;
}

/** `matching(id, verdict, is_exhausted)` for the components that match, a part of `with recursive`. */
export function judgedComponents(
  selection: ComponentSelection & { status?: ConfigurationStatus | undefined; options: StatusOptions },
): RawBuilder<unknown> {
  const { options, desiredConfig, status } = selection;
  const conditions = [
    ...restricted(selection),
    ...(desiredConfig === undefined ? [] : [sql<boolean>`components.desired_config = ${desiredConfig}`]),
    ...(status === undefined ? [] : [sql<boolean>`judged.verdict = ${verdictOf(status)}`]),
    ...(status === undefined ? [] : triesUsedUp({ status, options })),
  ];
  return sql`${judgedStandings(selection)}, matching as (
      select components.id, judged.verdict, ${exhausted(options)} as is_exhausted
      from components join judged on judged.standing = components.standing
      where ${conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `)}
    )`;
}

/** Standings that are read one by one at most. */
const FEW = 16;

type Verdict = 'unconfigured' | 'configured' | 'behind';

/** What is behind has failed when its tries are used up. */
function verdictOf(status: ConfigurationStatus): Verdict {
  return status === 'failed' || status === 'pending' ? 'behind' : status;
}

function triesUsedUp({ status, options }: Pick<StatusSelection, 'status' | 'options'>): RawBuilder<boolean>[] {
  if (status !== 'failed' && status !== 'pending') return [];
  return [sql<boolean>`${exhausted(options)} = ${status === 'failed'}`];
}

/** Whether the tries of a row of `components` are used up (cfs-api 7). */
export function exhausted(options: StatusOptions): RawBuilder<boolean> {
  const retries = sql`coalesce(components.retry_policy, ${options.default_batcher_retry_policy}::bigint)`;
  return sql<boolean>`(${retries} <> -1 and components.error_count >= ${retries})`;
}

export interface JudgedStandings {
  options: StatusOptions;
  /** Only standings that desire this configuration. */
  desiredConfig?: string | undefined;
  /** Adds `name`, the configuration, and `layers`, the comma list of indices of the layers that are not reached. */
  withLayers?: boolean;
}

/**
 * `judged(standing, verdict)` for all standings, a part of `with recursive`. `present` hops from one standing to the next on the
 * index, with one component of each; the verdict is made from that one's record. The keys of a configuration's layers are made
 * once for all standings that desire it.
 */
export function judgedStandings({ options, desiredConfig, withLayers }: JudgedStandings): RawBuilder<unknown> {
  const desired = desiredConfig === undefined ? sql`` : sql`where components.desired_config = ${desiredConfig}`;
  const layers = sql`, wanted.name, (
        select string_agg((listed.place - 1)::text, ',' order by listed.place)
        from unnest(wanted.keys) with ordinality as listed(key, place) where listed.key <> all(members.reached)
      ) as layers`;
  return sql`
    present as (
      (select standing, id from components order by standing, id limit 1)
      union all
      select next.standing, next.id from present cross join lateral (
        select components.standing, components.id from components
        where components.standing > present.standing order by components.standing, components.id limit 1
      ) next
    ), members as materialized (
      select present.standing, components.desired_config as name, components.state = '[]' as is_empty, components.reached
      from present join components on components.id = present.id ${desired}
    ), wanted as materialized (
      select names.name, configurations.name is not null as is_there, layers.incomplete, layers.keys
      from (select distinct name from members) as names
      left join configurations on configurations.name = names.name and names.name <> ''
      cross join lateral (
        select coalesce(bool_or(layer.key is null), false) as incomplete, coalesce(array_agg(layer.key order by layer.place), '{}') as keys from (
          select place, case when url <> '' and playbook <> '' and commit <> '' then layer_key(url, playbook, commit) end as key
          from (
            select listed.place, coalesce(sources.record ->> 'clone_url', listed.layer ->> 'clone_url') as url,
              coalesce(nullif(listed.layer ->> 'playbook', ''), ${options.default_playbook}) as playbook,
              listed.layer ->> 'commit' as commit
            from jsonb_array_elements(configurations.record -> 'layers') with ordinality as listed(layer, place)
            left join sources on sources.name = listed.layer ->> 'source'
          ) as named
        ) as layer
      ) as layers
    ), judged as materialized (
      select members.standing, case
        when not wanted.is_there then case when members.is_empty then 'unconfigured' else 'configured' end
        when wanted.incomplete then 'unconfigured'
        when members.reached @> wanted.keys then 'configured'
        else 'behind' end as verdict${withLayers ? layers : sql``}
      from members join wanted on wanted.name = members.name
    )`;
}
