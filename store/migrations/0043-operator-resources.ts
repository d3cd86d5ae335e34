import { type Kysely, sql } from 'kysely';

/** Operators: what they watch, the state of each custom resource, and a record of each reconcile. */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    // `watcher`: the machine whose process watches, for as long as its lease lasts.
    `create table operators (
      name text collate "C" primary key,
      home text not null,
      version text not null,
      db_role text not null default current_user,
      watcher text,
      watch_lease_until timestamptz,
      registered_at timestamptz not null
    )`,
    `create table operator_processes (
      operator text collate "C" not null references operators (name) on delete cascade,
      machine text not null,
      queue text not null,
      slots integer not null,
      version text not null,
      seen_at timestamptz not null,
      primary key (operator, machine)
    )`,
    `create table operator_watches (
      operator text collate "C" not null references operators (name) on delete cascade,
      api_group text collate "C" not null,
      version text collate "C" not null,
      kind text collate "C" not null,
      entry_hash text not null,
      slots integer not null,
      state text not null,
      reason text,
      updated_at timestamptz not null,
      primary key (operator, api_group, version, kind)
    )`,
    // `dirty` counts what happened to a resource, and is compared and never cleared. `due_*`: when it runs next, and why. `cause`: of the
    // last event. `reconcile_id`: the reconcile that is open.
    `create table operator_resources (
      id uuid primary key default gen_random_uuid(),
      operator text collate "C" not null references operators (name) on delete cascade,
      api_group text collate "C" not null,
      version text collate "C" not null,
      kind text collate "C" not null,
      namespace text collate "C" not null,
      name text collate "C" not null,
      uid text collate "C" not null,
      generation bigint not null,
      seen_mark text not null,
      deleting boolean not null,
      done_generation bigint,
      done_mark text,
      done_hash text,
      dirty bigint not null default 0,
      due_at timestamptz,
      due_class smallint,
      due_reason text,
      cause jsonb,
      failures integer not null default 0,
      interruptions integer not null default 0,
      last_outcome text,
      phase text not null,
      reason text,
      reconcile_id uuid,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      gone_at timestamptz
    )`,
    'create unique index operator_resources_object on operator_resources (operator, uid, version, api_group, kind)',
    `create index operator_resources_due on operator_resources (operator, due_at)
      where due_at is not null and reconcile_id is null`,
    'create index operator_resources_open on operator_resources (operator) where reconcile_id is not null',
    // `told_at`: when Temporal had its workflow. `run_result`: how its run ended, as its events say. `dirty_read`: of the resource, before the reconcile read it.
    `create table operator_reconciles (
      id uuid primary key,
      resource_id uuid not null references operator_resources (id) on delete cascade,
      operator text collate "C" not null,
      machine text not null,
      cause jsonb not null,
      started_at timestamptz not null,
      told_at timestamptz,
      ended_at timestamptz,
      begin jsonb,
      dirty_read bigint,
      generation bigint,
      entry_hash text,
      run_id text,
      run_result jsonb,
      outcome text,
      messages jsonb,
      requeue_after_seconds double precision,
      requeue_reason text
    )`,
    'create index operator_reconciles_resource on operator_reconciles (resource_id, started_at desc)',
    'create index operator_reconciles_open on operator_reconciles (operator) where ended_at is null',
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
