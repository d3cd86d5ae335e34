/** One component and the version of its row, for a write that takes no lock before it; sessions that reports name. */
import { sql } from 'kysely';
import type { Component } from '../../domain/components/schema.ts';
import type { Db } from '../connection/database.ts';
import { type BootedComponent, COLUMNS, type ComponentUpdate, toComponent } from './components.ts';

export interface ComponentVersion {
  component: Component;
  /** Differs after every write of the row. */
  version: string;
}

/** As it is now; with `session`, also since when the session of that name has been let in, if it is one of ours. */
export async function findComponentVersion(
  db: Db,
  id: string,
  session?: string,
): Promise<(ComponentVersion & BootedComponent & { sessionSince: Date | null }) | undefined> {
  const since =
    session === undefined
      ? sql<null>`null`
      : sql<Date | null>`(select ${SINCE} from sessions where name = ${session} and deleted_at is null)`;
  const row = await db
    .selectFrom('components')
    .select([...COLUMNS, 'booted_at', sql<string>`components.xmin::text`.as('version'), since.as('since')])
    .where('components.id', '=', id)
    .executeTakeFirst();
  return row && { component: toComponent(row), bootedAt: row.booted_at, version: row.version, sessionSince: row.since };
}

/** Since when the sessions of these names have been let in, of those that are ours; a session that nobody let in, since it was made. */
export async function readSessionsSince(db: Db, names: readonly string[]): Promise<Map<string, Date>> {
  const { rows } = await sql<{ name: string; since: Date }>`select name, ${SINCE} as since from sessions
    where name = any(${names}) and deleted_at is null`.execute(db);
  return new Map(rows.map(({ name, since }) => [name, since]));
}

const SINCE = sql`coalesce(sessions.admitted_at, sessions.created_at)`;

/** Writes members of a component unless its row was written since that version; answers whether it did. */
export async function updateComponentVersion(
  db: Db,
  { component, version }: ComponentVersion,
  { now, actor, members, booted }: ComponentUpdate,
): Promise<boolean> {
  const { id, state, tags, muster, ...rest } = component;
  const values = { retry_policy: null, ...rest, state: JSON.stringify(state), tags: JSON.stringify(tags) };
  const written = Object.fromEntries(
    [...members].map((member) => (member === 'muster' ? ['boot', muster?.boot ?? null] : [member, values[member]])),
  );
  const result = await db
    .updateTable('components')
    .set({ ...written, ...(booted?.has(id) ? { booted_at: now } : {}), updated_at: now, actor })
    .where('id', '=', component.id)
    .where(sql<boolean>`xmin = ${version}::xid`)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}
