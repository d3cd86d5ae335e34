/** Events, kept with their emitter and found by both ends. */
import { type Insertable, type Selectable, sql } from 'kysely';
import type { Db } from '../connection/database.ts';
import type { EventsTable } from './tables.ts';

export type EventRow = Selectable<EventsTable>;

/** Adds events; those that are there stay. An event that a user adds is the user's from then on. */
export async function insertEvents(trx: Db, events: readonly Insertable<EventsTable>[]): Promise<void> {
  for (let at = 0; at < events.length; at += 1_000) {
    await trx
      .insertInto('propagation_events')
      .values(events.slice(at, at + 1_000))
      .onConflict((conflict) =>
        conflict
          .column('id')
          .doUpdateSet((eb) => ({ source: eb.ref('excluded.source'), connection: eb.ref('excluded.connection') }))
          .where(sql<boolean>`excluded.source = 'user' and propagation_events.source <> 'user'`),
      )
      .execute();
  }
}

/** Returns the events with these ids. */
export async function findEvents(db: Db, ids: readonly string[]): Promise<EventRow[]> {
  if (ids.length === 0) return [];
  const query = db.selectFrom('propagation_events').selectAll();
  return query.where('id', '=', sql<string>`any(${ids}::text[])`).orderBy('id').execute();
}

export async function findEvent(db: Db, id: string): Promise<EventRow | null> {
  return (await db.selectFrom('propagation_events').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;
}

/** Removes an event. Returns whether it was there. */
export async function deleteEvent(trx: Db, id: string): Promise<boolean> {
  const deleted = await trx.deleteFrom('propagation_events').where('id', '=', id).executeTakeFirst();
  return deleted.numDeletedRows > 0n;
}

/** Removes the events that begin or end at a resource. */
export async function deleteEventsOf(trx: Db, resource: string): Promise<void> {
  await trx
    .deleteFrom('propagation_events')
    .where((eb) => eb.or([eb('parent', '=', resource), eb('child', '=', resource)]))
    .execute();
}

/** Removes the events that connections made. */
export async function deleteEventsOfConnections(trx: Db, connections: readonly string[]): Promise<void> {
  await sql`delete from propagation_events where connection = any(${connections}::uuid[])`.execute(trx);
}

/** Hands the events of connections that go over to a connection that stays. */
export async function handEventsOver(trx: Db, connections: readonly string[], to: string): Promise<void> {
  await sql`
    update propagation_events set connection = ${to}, source = ${`default:${to}`}
    where connection = any(${connections}::uuid[])`.execute(trx);
}

/** Leaves the events of connections that go, as if a user had added them. */
export async function keepEvents(trx: Db, connections: readonly string[]): Promise<void> {
  await sql`
    update propagation_events set connection = null, source = 'user'
    where connection = any(${connections}::uuid[])`.execute(trx);
}

export interface EventFilter {
  parent?: string | undefined;
  child?: string | undefined;
  /** Either end. */
  resource?: string | undefined;
  source?: string | undefined;
}

const filtered = ({ parent, child, resource, source }: EventFilter) =>
  sql<boolean>`(${parent ?? null}::text is null or parent = ${parent ?? null})
    and (${child ?? null}::text is null or child = ${child ?? null})
    and (${resource ?? null}::text is null or parent = ${resource ?? null} or child = ${resource ?? null})
    and (${source ?? null}::text is null or source = ${source ?? null})`;

/** Returns at most `limit` events after an id that meet every condition. */
export async function listEvents(db: Db, filter: EventFilter, after: string, limit: number): Promise<EventRow[]> {
  const query = db.selectFrom('propagation_events').selectAll().where('id', '>', after).where(filtered(filter));
  return query.orderBy('id').limit(limit).execute();
}

/** Removes the events that meet every condition. Returns their number. */
export async function deleteEvents(trx: Db, filter: EventFilter): Promise<number> {
  const deleted = await trx.deleteFrom('propagation_events').where(filtered(filter)).executeTakeFirst();
  return Number(deleted.numDeletedRows);
}
