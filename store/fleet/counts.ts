/** Components by what they desire, and what else names a configuration. */
import { type RawBuilder, sql } from 'kysely';
import { judgedStandings } from '../components/component-status.ts';
import { readOptions } from '../configurations/options.ts';
import type { Db } from '../connection/database.ts';
import { type ComponentCount, countedStandings, STATUS_OF_COUNTED } from './gauges.ts';

export interface DesiredCount {
  configuration: string;
  count: number;
  /** Of them, those that have reached it. */
  configured: number;
}

export interface FleetCounts {
  statuses: ComponentCount[];
  /** By desired configuration, most first. */
  configurations: DesiredCount[];
}

/** Counts all components at one moment, in one pass; at most `limit` configurations. */
export async function countStandings(db: Db, limit: number): Promise<FleetCounts> {
  const options = await readOptions(db);
  const { rows } = await sql<FleetCounts>`
    with recursive ${judgedStandings({ options })}, ${countedStandings(options)}, tallied as materialized (
      select members.name as configuration, ${STATUS_OF_COUNTED} as status, counted.enabled, sum(counted.count)::bigint as count
      from counted join judged on judged.standing = counted.standing join members on members.standing = counted.standing
      group by 1, 2, 3
    )
    select
      (select coalesce(jsonb_agg(found), '[]') from (
        select status, enabled, sum(count)::bigint as count from tallied group by 1, 2) as found) as statuses,
      (select coalesce(jsonb_agg(found order by found.count desc, found.configuration), '[]') from (
        select configuration, sum(count)::bigint as count,
          coalesce(sum(count) filter (where status = 'configured'), 0)::bigint as configured
        from tallied group by 1 order by 2 desc, 1 limit ${limit}) as found) as configurations`.execute(db);
  return rows[0] ?? { statuses: [], configurations: [] };
}

/** How many there are, and the names of the first. */
export interface Users {
  count: number;
  names: string[];
}

/** The schedules whose action names a configuration. */
export async function findSchedulesOf(db: Db, configuration: string, limit: number): Promise<Users> {
  const action = sql`record -> 'action'`;
  const users = sql`schedules where ${configuration} in (
      ${action} -> 'session' ->> 'configuration_name', ${action} -> 'reconfigure' ->> 'desired_config',
      ${action} -> 'reconfigure' -> 'filter' ->> 'config_name', ${action} -> 'check' -> 'filter' ->> 'config_name')
    or ${action} -> 'refresh' -> 'configurations' ? ${configuration}`;
  return firstNames(db, users, sql`name`, limit);
}

/** The sessions of a configuration that have not ended, the oldest first. */
export async function findOpenSessionsOf(db: Db, configuration: string, limit: number): Promise<Users> {
  const users = sql`sessions where configuration_name = ${configuration} and stage <> 'ended' and deleted_at is null`;
  return firstNames(db, users, sql`queue`, limit);
}

async function firstNames(
  db: Db,
  users: RawBuilder<unknown>,
  order: RawBuilder<unknown>,
  limit: number,
): Promise<Users> {
  const { rows } = await sql<Users>`
    select (select count(*)::int from ${users}) as count,
      array(select name from ${users} order by ${order} limit ${limit}) as names`.execute(db);
  return rows[0] ?? { count: 0, names: [] };
}
