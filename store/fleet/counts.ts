/** Components by what they desire, and what else names a configuration. */
import { type RawBuilder, sql } from 'kysely';
import { judgedStandings } from '../components/component-status.ts';
import { readOptions } from '../configurations/options.ts';
import type { Db } from '../connection/database.ts';

export interface DesiredCount {
  configuration: string;
  count: number;
  /** Of them, those that have reached it. */
  configured: number;
}

/** Counts components by desired configuration, most first, at most `limit` of them. */
export async function countByConfiguration(db: Db, limit: number): Promise<DesiredCount[]> {
  const options = await readOptions(db);
  const { rows } = await sql<DesiredCount>`
    with recursive ${judgedStandings({ options })}
    select components.desired_config as configuration, count(*)::int as count,
      (count(*) filter (where judged.verdict = 'configured'))::int as configured
    from components join judged on judged.standing = components.standing
    group by 1 order by 2 desc, 1 limit ${limit}`.execute(db);
  return rows;
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
