/** What lists of components show beside the records. */
import { sql } from 'kysely';
import type { ConfigurationStatus } from '../../domain/components/schema.ts';
import type { StatusOptions } from '../../domain/components/status.ts';
import type { Db } from '../connection/database.ts';
import { judgedComponents } from './component-status.ts';
import type { ComponentSelection } from './components.ts';

export interface ComponentDetails {
  updatedAt: Date;
  actor: string | null;
  /** The session that has it. */
  session: { id: string; name: string } | null;
}

/** Returns what is known of those of these components that are there, by id. */
export async function readComponentDetails(db: Db, ids: readonly string[]): Promise<Map<string, ComponentDetails>> {
  const rows = await db
    .selectFrom('components')
    .leftJoin('component_leases', 'component_leases.component_id', 'components.id')
    .leftJoin('sessions', 'sessions.id', 'component_leases.session_id')
    .select([
      'components.id',
      'components.updated_at',
      'components.actor',
      'sessions.id as session_id',
      'sessions.name as session_name',
    ])
    .where('components.id', '=', sql<string>`any(${ids})`)
    .execute();
  return new Map(
    rows.map(({ id, updated_at, actor, session_id, session_name }) => [
      id,
      {
        updatedAt: updated_at,
        actor,
        session: session_id === null || session_name === null ? null : { id: session_id, name: session_name },
      },
    ]),
  );
}

export interface CountedSelection extends ComponentSelection {
  status?: ConfigurationStatus | undefined;
  options: StatusOptions;
}

/** How many components match, at most `most`. */
export async function countMatchingComponents(db: Db, selection: CountedSelection, most: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with recursive ${judgedComponents(selection)}
    select count(*)::int as count from (select 1 from matching limit ${most}) as counted`.execute(db);
  return rows[0]?.count ?? 0;
}

/**
 * Returns the revision of all components: it differs whenever a record, a lease, or what a status depends on has changed. Every part of it is
 * read from an index, or from a small table.
 */
export async function readComponentsRevision(db: Db): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    select concat_ws(' ',
      (select concat(count(*)) from components),
      (select extract(epoch from max(updated_at)) from components),
      (select concat(count(*), '/', extract(epoch from max(taken_at))) from component_leases),
      (select concat(count(*), '/', sum(revision), '/', extract(epoch from max(updated_at))) from configurations),
      (select concat(count(*), '/', extract(epoch from max(updated_at))) from sources),
      (select extract(epoch from max(updated_at)) from options)) as revision`.execute(db);
  return rows[0]?.revision ?? '';
}

/** Returns the revision of one component; '' when there is none of the id. */
export async function readComponentRevision(db: Db, id: string): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    select concat_ws(' ', extract(epoch from components.updated_at), md5(components.state::text), components.error_count,
      components.enabled, component_leases.session_id,
      (select concat(revision) from configurations where name = components.desired_config),
      (select concat(count(*), '/', extract(epoch from max(updated_at))) from sources),
      (select extract(epoch from max(updated_at)) from options)) as revision
    from components left join component_leases on component_leases.component_id = components.id
    where components.id = ${id}`.execute(db);
  return rows[0]?.revision ?? '';
}
