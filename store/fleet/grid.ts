/** Components as cells of a grid, and what became of hosts by the hour. */
import { type RawBuilder, sql } from 'kysely';
import { exhausted, judgedStandings } from '../components/component-status.ts';
import { readOptions } from '../configurations/options.ts';
import type { Db } from '../connection/database.ts';

/** Components in the order of their ids, each with the label of its group and the letter of its status. */
export interface GridCells {
  ids: string[];
  labels: string[];
  letters: string;
}

/** How cells are grouped: all together, by what they desire, or by the value of a tag. */
export type GridGrouping = { by: 'none' } | { by: 'configuration' } | { by: 'tag'; tag: string };

function labelOf(grouping: GridGrouping): RawBuilder<unknown> {
  if (grouping.by === 'none') return sql`''`;
  return grouping.by === 'configuration'
    ? sql`components.desired_config`
    : sql`coalesce(components.tags ->> ${grouping.tag}, '')`;
}

/** Whether there are more components than so many. */
export async function hasMoreComponents(db: Db, most: number): Promise<boolean> {
  const { rows } = await sql<{ isMore: boolean }>`
    select count(*) > ${most} as "isMore" from (select from components limit ${most + 1}) as found`.execute(db);
  return rows[0]?.isMore ?? false;
}

/** Counts all components, and those of each group, of at most `most` groups. */
export async function countGroups(
  db: Db,
  grouping: GridGrouping,
  most: number,
): Promise<{ total: number; groups: { label: string; count: number }[] }> {
  const { rows } = await sql<{ label: string; count: number; total: number }>`
    select label, count, (sum(count) over ())::int as total from (
      select ${labelOf(grouping)} as label, count(*)::int as count from components group by 1) as counted
    order by label limit ${most}`.execute(db);
  return { total: rows[0]?.total ?? 0, groups: rows.map(({ label, count }) => ({ label, count })) };
}

/** Reads all components; one row, since very many small ones take several times as long. */
export async function readGridCells(db: Db, grouping: GridGrouping): Promise<GridCells> {
  const options = await readOptions(db);
  const { rows } = await sql<GridCells>`
    with recursive ${judgedStandings({ options })}, cells as (
      select components.id, ${labelOf(grouping)} as label, component_leases.component_id is not null as is_held,
        case when not components.enabled then 'd' when judged.verdict <> 'behind' then left(judged.verdict, 1)
          when ${exhausted(options)} then 'f' else 'p' end as letter
      from components join judged on judged.standing = components.standing
      left join component_leases on component_leases.component_id = components.id
      order by components.id
    )
    select coalesce(json_agg(id), '[]') as ids, coalesce(json_agg(label), '[]') as labels,
      coalesce(string_agg(case when is_held then upper(letter) else letter end, ''), '') as letters
    from cells`.execute(db);
  return rows[0] ?? { ids: [], labels: [], letters: '' };
}

interface HourCount {
  hour: Date;
  configured: number;
  failed: number;
}

/** Counts what components took of runs that were recorded from `since` on, by the hour of UTC; hours without any are not there. */
export async function countByHour(db: Db, since: Date): Promise<HourCount[]> {
  const { rows } = await sql<HourCount>`
    select date_trunc('hour', runs.recorded_at, 'UTC') as hour,
      (count(*) filter (where host_results.status = 'applied'))::int as configured,
      (count(*) filter (where host_results.status = 'failed'))::int as failed
    from runs join host_results on host_results.run_id = runs.id
    where runs.recorded_at >= ${since} and host_results.recorded
    group by 1 order by 1`.execute(db);
  return rows;
}
