/** The status of components in SQL: the rule of `domain/components/status.ts`, for filters over very many of them. */
import { type RawBuilder, sql } from 'kysely';
import type { Component, ConfigurationStatus } from '../domain/components/schema.ts';
import type { StatusOptions } from '../domain/components/status.ts';
import { COLUMNS, type ComponentSelection, restricted, toComponent } from './components.ts';
import type { Db } from './database.ts';

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

/** The comparisons of both columns, in the order of both, leave the planner no other index to walk along. */
function pageOfIds(selection: StatusSelection, afterId: string, limit: number): RawBuilder<unknown> {
  return sql`
    with recursive ${judgedStandings(selection)}
    select page.id from judged cross join lateral (
      select components.id from components
      where (components.standing, components.id) > (judged.standing, ${afterId})
        and components.standing <= judged.standing
        and ${sql.join([sql`true`, ...triesUsedUp(selection), ...restricted(selection)], sql` and `)}
      order by components.standing, components.id limit ${limit}
    ) page
    where judged.verdict = ${verdictOf(selection.status)}
    order by page.id limit ${limit}`;
}

type Verdict = 'unconfigured' | 'configured' | 'behind';

/** What is behind has failed when its tries are used up. */
function verdictOf(status: ConfigurationStatus): Verdict {
  return status === 'failed' || status === 'pending' ? 'behind' : status;
}

function triesUsedUp({ status, options }: StatusSelection): RawBuilder<boolean>[] {
  if (status !== 'failed' && status !== 'pending') return [];
  const retries = sql`coalesce(components.retry_policy, ${options.default_batcher_retry_policy}::bigint)`;
  return [sql<boolean>`(${retries} <> -1 and components.error_count >= ${retries}) = ${status === 'failed'}`];
}

/**
 * `judged(standing, verdict)` for all standings. `present` hops from one standing to the next on the index, with one component
 * of each; the verdict is made from that one's record. The keys of a configuration's layers are made once for all standings that
 * desire it.
 */
function judgedStandings({ desiredConfig, options }: StatusSelection): RawBuilder<unknown> {
  const desired = desiredConfig === undefined ? sql`` : sql`where components.desired_config = ${desiredConfig}`;
  return sql`
    present as (
      (select standing, id from components order by standing, id limit 1)
      union all
      select next.standing, next.id from present cross join lateral (
        select components.standing, components.id from components
        where components.standing > present.standing order by components.standing, components.id limit 1
      ) next
    ), wanted as (
      select components.desired_config as name, array_agg(present.standing) as standings,
        array_agg(components.state) as states
      from present join components on components.id = present.id ${desired} group by components.desired_config
    ), judged as materialized (
      select member.standing, case
        when configurations.name is null then case when member.state = '[]' then 'unconfigured' else 'configured' end
        when layers.incomplete then 'unconfigured'
        when reached_layers(member.state) @> layers.keys then 'configured'
        else 'behind' end as verdict
      from wanted left join configurations on configurations.name = wanted.name and wanted.name <> ''
      cross join lateral (
        select coalesce(bool_or(layer.key is null), false) as incomplete, coalesce(array_agg(layer.key), '{}') as keys from (
          select case when url <> '' and playbook <> '' and commit <> '' then layer_key(url, playbook, commit) end as key
          from (
            select coalesce(sources.record ->> 'clone_url', listed.layer ->> 'clone_url') as url,
              coalesce(nullif(listed.layer ->> 'playbook', ''), ${options.default_playbook}) as playbook,
              listed.layer ->> 'commit' as commit
            from jsonb_array_elements(configurations.record -> 'layers') as listed(layer)
            left join sources on sources.name = listed.layer ->> 'source'
          ) as named
        ) as layer
      ) as layers
      cross join lateral unnest(wanted.standings, wanted.states) as member(standing, state)
    )`;
}
