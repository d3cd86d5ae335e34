/** Messages to the workflow engine that were decided with a record and are not yet delivered. */
import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';
import type { OutboxKind } from './tables.ts';

export interface OutboxItem {
  id: number;
  kind: OutboxKind;
  sessionId: string;
  attempts: number;
  /** Seconds since it was decided. */
  age: number;
}

/** Adds a message; call it in the transaction that writes the record. */
export async function addToOutbox(db: Db, kind: OutboxKind, sessionId: string): Promise<void> {
  await db
    .insertInto('outbox')
    .values({ kind, session_id: sessionId, created_at: sql`now()`, next_try_at: sql`now()` })
    .execute();
}

/**
 * Takes up to `limit` due messages of a kind, oldest first, for `leaseSeconds`: another dispatcher does not see them meanwhile,
 * and if this one dies they are due again.
 */
export async function takeFromOutbox(
  db: Db,
  kind: OutboxKind,
  limit: number,
  leaseSeconds: number,
): Promise<OutboxItem[]> {
  const { rows } = await sql<{ id: number; kind: OutboxKind; session_id: string; attempts: number; age: number }>`
    update outbox set next_try_at = now() + make_interval(secs => ${leaseSeconds}), attempts = attempts + 1
    where id in (
      select id from outbox where next_try_at <= now() and kind = ${kind} order by id limit ${limit} for update skip locked
    )
    returning id, kind, session_id, attempts, extract(epoch from now() - created_at)::float8 as age
  `.execute(db);
  return rows.map(({ session_id, ...row }) => ({ ...row, sessionId: session_id })).sort((a, b) => a.id - b.id);
}

/** The messages were delivered. */
export async function removeFromOutbox(db: Db, ids: number[]): Promise<void> {
  if (ids.length > 0) await db.deleteFrom('outbox').where('id', 'in', ids).execute();
}

/** The message could not be delivered: due again after `delaySeconds`. */
export async function postponeOutbox(db: Db, id: number, delaySeconds: number, error: string): Promise<void> {
  await sql`
    update outbox set next_try_at = now() + make_interval(secs => ${delaySeconds}), last_error = ${error.slice(0, 500)}
    where id = ${id}
  `.execute(db);
}

/** Whether such a message waits already. */
export async function hasOutboxItem(db: Db, kind: OutboxKind, sessionId: string): Promise<boolean> {
  const row = await db
    .selectFrom('outbox')
    .select('id')
    .where('kind', '=', kind)
    .where('session_id', '=', sessionId)
    .executeTakeFirst();
  return row !== undefined;
}
