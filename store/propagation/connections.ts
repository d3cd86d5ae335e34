/**
 * Connections between inputs, and the walks along them. Each step of a walk is a look into an index: as a join the planner may read the
 * whole table at each step, hence `lateral` with `offset 0`.
 */
import { type Insertable, type Selectable, sql } from 'kysely';
import type { Db } from '../connection/database.ts';
import type { ConnectionsTable } from './tables.ts';

export type ConnectionRow = Selectable<ConnectionsTable>;

/** Inserts a connection, unless this very edge is there. Returns whether it was inserted. */
export async function insertConnection(trx: Db, row: Insertable<ConnectionsTable>): Promise<boolean> {
  const inserted = await trx
    .insertInto('propagation_connections')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return (inserted.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

export async function findConnection(db: Db, id: string): Promise<ConnectionRow | null> {
  const query = db.selectFrom('propagation_connections').selectAll().where('id', '=', id);
  return (await query.executeTakeFirst()) ?? null;
}

/** Returns the connections into these resources, in the order in which they were made. */
export async function findConnectionsInto(db: Db, receivers: readonly string[]): Promise<ConnectionRow[]> {
  if (receivers.length === 0) return [];
  return db
    .selectFrom('propagation_connections')
    .selectAll()
    .where('receiver', '=', sql<string>`any(${receivers}::text[])`)
    .orderBy('place')
    .execute();
}

/** Returns the connections into one input, in the order in which they were made. */
export async function findConnectionsIntoInput(db: Db, receiver: string, input: string): Promise<ConnectionRow[]> {
  return db
    .selectFrom('propagation_connections')
    .selectAll()
    .where('receiver', '=', receiver)
    .where('receiver_input', '=', input)
    .orderBy('place')
    .execute();
}

/** Returns the connections from one resource to another, in the order in which they were made. */
export async function findConnectionsOfPair(db: Db, emitter: string, receiver: string): Promise<ConnectionRow[]> {
  return db
    .selectFrom('propagation_connections')
    .selectAll()
    .where('emitter', '=', emitter)
    .where('receiver', '=', receiver)
    .orderBy('place')
    .execute();
}

/** Returns the connections that begin or end at a resource. */
export async function findConnectionsOf(db: Db, resource: string): Promise<ConnectionRow[]> {
  return db
    .selectFrom('propagation_connections')
    .selectAll()
    .where((eb) => eb.or([eb('emitter', '=', resource), eb('receiver', '=', resource)]))
    .orderBy('place')
    .execute();
}

export interface ConnectionFilter {
  emitter?: string | undefined;
  receiver?: string | undefined;
}

/** Returns at most `limit` connections made after one, in the order in which they were made. */
export async function listConnections(
  db: Db,
  { emitter, receiver }: ConnectionFilter,
  after: number,
  limit: number,
): Promise<ConnectionRow[]> {
  return db
    .selectFrom('propagation_connections')
    .selectAll()
    .where('place', '>', after)
    .$if(emitter !== undefined, (query) => query.where('emitter', '=', emitter ?? ''))
    .$if(receiver !== undefined, (query) => query.where('receiver', '=', receiver ?? ''))
    .orderBy('place')
    .limit(limit)
    .execute();
}

/** Removes these connections. */
export async function deleteConnections(trx: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`delete from propagation_connections where id = any(${ids}::uuid[])`.execute(trx);
}

/**
 * Returns the connections from which the values of these resources come: those into them, and on the way up those into each input that
 * hands a value on. In the order in which they were made.
 */
export async function findSources(db: Db, resources: readonly string[]): Promise<ConnectionRow[]> {
  if (resources.length === 0) return [];
  const { rows } = await sql<ConnectionRow>`
    with recursive up as (
      select c.* from propagation_connections c where c.receiver = any(${resources}::text[])
      union
      select c.* from up, lateral (select * from propagation_connections c
        where c.receiver = up.emitter and c.receiver_input = up.emitter_input offset 0) as c
    )
    select * from up order by place`.execute(db);
  return rows;
}

/** Returns the connections from which the value of one input comes. */
export async function findSourcesOfInput(db: Db, resource: string, input: string): Promise<ConnectionRow[]> {
  const { rows } = await sql<ConnectionRow>`
    with recursive up as (
      select c.* from propagation_connections c where c.receiver = ${resource} and c.receiver_input = ${input}
      union
      select c.* from up, lateral (select * from propagation_connections c
        where c.receiver = up.emitter and c.receiver_input = up.emitter_input offset 0) as c
    )
    select * from up order by place`.execute(db);
  return rows;
}

/** Returns the names of all transitive receivers of these resources, in plain order. */
export async function findReceivers(db: Db, resources: readonly string[]): Promise<string[]> {
  if (resources.length === 0) return [];
  const { rows } = await sql<{ name: string }>`
    with recursive down(name) as (
      select c.receiver from propagation_connections c where c.emitter = any(${resources}::text[])
      union
      select c.receiver from down, lateral (select c.receiver from propagation_connections c
        where c.emitter = down.name offset 0) as c
    )
    select name from down order by name`.execute(db);
  return rows.map(({ name }) => name);
}
