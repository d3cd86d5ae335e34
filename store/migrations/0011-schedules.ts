import { type Kysely, sql } from 'kysely';

/** Schedules of the user and what they did. Of two runs of one schedule at the same second there is one. */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    `create table schedules (
      id uuid primary key,
      name text collate "C" not null unique,
      record jsonb not null,
      paused boolean not null,
      pause_note text not null default '',
      paused_by text,
      paused_at timestamptz,
      revision integer not null default 1,
      synced_revision integer,
      sync_error text,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      actor text
    )`,
    `create table schedule_runs (
      id uuid primary key,
      schedule_id uuid not null references schedules (id) on delete cascade,
      scheduled_at timestamptz not null,
      state text not null,
      by_hand boolean not null,
      requested_by text,
      created_at timestamptz not null,
      delivered_at timestamptz,
      workflow_id text,
      action jsonb,
      started_at timestamptz,
      ended_at timestamptz,
      result jsonb,
      error_code text,
      error text,
      unique (schedule_id, scheduled_at)
    )`,
    `create index schedule_runs_open on schedule_runs (id) where ended_at is null`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
