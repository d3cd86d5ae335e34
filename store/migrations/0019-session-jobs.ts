import { type Kysely, sql } from 'kysely';

/** Sessions that run as a Kubernetes Job: what its pod is told, what it says of its steps, and how it ended. */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    `create table session_jobs (
      session_id uuid primary key references sessions (id) on delete cascade,
      name text collate "C" not null unique,
      profile text not null,
      inventory jsonb not null,
      leases boolean not null,
      order_number integer not null default 0,
      order_body jsonb,
      steps jsonb not null default '{}',
      waiting_since timestamptz,
      teardown jsonb,
      exit_codes jsonb,
      end_code text,
      end_message text,
      unverified text,
      ended_at timestamptz,
      released_at timestamptz,
      created_at timestamptz not null
    )`,
    'create index session_jobs_unreleased on session_jobs (name) where released_at is null',
    `create table job_tokens (
      hash bytea primary key,
      session_id uuid not null references session_jobs (session_id) on delete cascade,
      issued_at timestamptz not null
    )`,
    'create index job_tokens_session on job_tokens (session_id)',
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
