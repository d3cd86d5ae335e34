/** Requests with an `Idempotency-Key`: who works on each, and the sealed first answers. */
import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';

export interface RequestClaim {
  /** Hash of everything that makes two requests the same one, but the body. */
  scope: Buffer;
  /** Keyed hash of the body. */
  fingerprint: Buffer;
  /** Stays the same when another takes over after a crash, so that what the first one did can be told. */
  operation: string;
  /** Who works on it. */
  holder: string;
  now: Date;
  heldUntil: Date;
  /** Requests from before count for nothing. */
  expiry: Date;
}

/**
 * Takes the request on: one that is new, or expired, or that its holder has left without an answer. Answers the operation,
 * or null when it is not to be had.
 */
export async function claimRequest(db: Db, claim: RequestClaim): Promise<string | null> {
  const { rows } = await sql<{ operation: string }>`
    insert into idempotent_requests as r (scope, fingerprint, operation, holder, held_until, created_at)
    values (${claim.scope}, ${claim.fingerprint}, ${claim.operation}, ${claim.holder}, ${claim.heldUntil}, ${claim.now})
    on conflict (scope) do update set
      operation = case when r.created_at <= ${claim.expiry} then excluded.operation else r.operation end,
      created_at = case when r.created_at <= ${claim.expiry} then excluded.created_at else r.created_at end,
      fingerprint = excluded.fingerprint, holder = excluded.holder, held_until = excluded.held_until,
      answer_head = null, answer_body = null
    where r.created_at <= ${claim.expiry}
      or (r.answer_head is null and r.held_until <= ${claim.now} and r.fingerprint = excluded.fingerprint)
    returning operation`.execute(db);
  return rows[0]?.operation ?? null;
}

export interface StoredRequest {
  fingerprint: Buffer;
  answer: { head: Buffer; body: Buffer | null } | null;
}

/** What is known of a request; null when nothing is. */
export async function findRequest(db: Db, scope: Buffer): Promise<StoredRequest | null> {
  const row = await db.selectFrom('idempotent_requests').selectAll().where('scope', '=', scope).executeTakeFirst();
  if (row === undefined) return null;
  const answer = row.answer_head === null ? null : { head: row.answer_head, body: row.answer_body };
  return { fingerprint: row.fingerprint, answer };
}

/** Keeps the request for its holder until then; a time that has come lets another one take it. */
export async function holdRequest(db: Db, scope: Buffer, holder: string, until: Date): Promise<void> {
  await db
    .updateTable('idempotent_requests')
    .set({ held_until: until })
    .where('scope', '=', scope)
    .where('holder', '=', holder)
    .execute();
}

/** Stores the answer, unless another has taken the request over. */
export async function storeAnswer(
  db: Db,
  scope: Buffer,
  holder: string,
  answer: { head: Buffer; body: Buffer | null },
): Promise<void> {
  await db
    .updateTable('idempotent_requests')
    .set({ answer_head: answer.head, answer_body: answer.body })
    .where('scope', '=', scope)
    .where('holder', '=', holder)
    .execute();
}

/** Removes requests from before `expiry`, at most `limit`; answers how many. */
export async function removeExpiredRequests(db: Db, expiry: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from idempotent_requests where scope in (
      select scope from idempotent_requests where created_at <= ${expiry} limit ${limit} for update skip locked
    )`.execute(db);
  return Number(numAffectedRows ?? 0n);
}
