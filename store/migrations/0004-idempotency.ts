import { type Kysely, sql } from 'kysely';

/** Requests with an `Idempotency-Key`, and their first answers. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`create table idempotent_requests (
    scope bytea primary key,
    fingerprint bytea not null,
    operation uuid not null,
    holder uuid not null,
    held_until timestamptz not null,
    created_at timestamptz not null,
    answer_head bytea,
    answer_body bytea
  )`.execute(db);
  await sql`create index idempotent_requests_created on idempotent_requests (created_at)`.execute(db);
}
