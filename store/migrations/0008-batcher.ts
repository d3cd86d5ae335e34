import { type Kysely, sql } from 'kysely';

/**
 * What the batcher remembers: its batches with their members, the back-off of all and of single keys, and announcements of what
 * may make a component pending. An announcement is made by the database, so no writer can forget it.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    // The status of the last report, which is part of a batch's key.
    `alter table components add column last_status text generated always as (state -> -1 ->> 'status') stored`,
    `create table batches (
      id uuid primary key,
      key text collate "C" not null,
      configuration text collate "C" not null,
      layers text not null,
      state text not null default 'open',
      opened_at timestamptz not null,
      tries integer not null default 0,
      refusal text,
      sent_at timestamptz,
      waited_until timestamptz,
      session_id uuid,
      session_name text,
      desired text,
      ended_at timestamptz,
      result text,
      reason text,
      counted boolean not null default false
    )`,
    `create index batches_live on batches (state, opened_at, id) where state <> 'ended'`,
    `create index batches_ended on batches (ended_at, id) where state = 'ended'`,
    `create index batches_uncounted on batches (id) where state = 'ended' and not counted`,
    'create index batches_session on batches (session_id) where session_id is not null',
    // The primary key is the rule: a component is in one batch at most that has not ended.
    `create table batch_members (
      component_id text collate "C" primary key,
      batch_id uuid not null references batches (id) on delete cascade,
      joined_at timestamptz not null
    )`,
    'create index batch_members_batch on batch_members (batch_id, component_id)',
    `create table batcher_state (
      single boolean primary key default true check (single),
      results boolean[] not null default array_fill(true, array[20]),
      backoff_length integer not null default 0,
      backoff_start timestamptz,
      probe uuid,
      paused boolean not null default false,
      paused_by text,
      paused_at timestamptz,
      last_pass_at timestamptz,
      last_pass_ms integer,
      next_pass_at timestamptz
    )`,
    'insert into batcher_state default values',
    `create table batch_keys (
      key text collate "C" primary key,
      failures integer not null default 0,
      backoff_length integer not null default 0,
      backoff_start timestamptz,
      probe uuid,
      desired text not null default '',
      paused boolean not null default false,
      paused_by text,
      last_seen_at timestamptz not null
    )`,
    'create index batch_keys_seen on batch_keys (last_seen_at)',
    `create function announce_batcher() returns trigger language plpgsql as $$
      begin perform pg_notify('muster_batcher', ''); return null; end $$`,
    // Only what can make a component pending, not each report of a layer: a commit that announces waits for the others'.
    `create trigger batcher_component_made after insert on components for each row
      when (new.enabled and new.desired_config <> '') execute function announce_batcher()`,
    `create trigger batcher_component_changed after update on components for each row
      when (new.enabled and new.desired_config <> '' and (not old.enabled or old.desired_config <> new.desired_config
        or new.error_count < old.error_count or new.retry_policy is distinct from old.retry_policy
        or not new.reached @> old.reached))
      execute function announce_batcher()`,
    `create trigger batcher_configuration_made after insert on configurations for each row execute function announce_batcher()`,
    `create trigger batcher_configuration_changed after update on configurations for each row
      when (old.record is distinct from new.record) execute function announce_batcher()`,
    `create trigger batcher_configuration_gone after delete on configurations for each row execute function announce_batcher()`,
    `create trigger batcher_source_changed after update on sources for each row
      when (old.record is distinct from new.record) execute function announce_batcher()`,
    `create trigger batcher_options_changed after update on options for each row
      when (old.record is distinct from new.record) execute function announce_batcher()`,
    // The end of any session may free a slot or a component.
    `create trigger batcher_session_changed after update of status, succeeded, stage, deleted_at on sessions for each row
      when ((new.stage = 'ended' and old.stage <> 'ended') or (new.actor = 'batcher' and (old.status <> new.status
        or old.succeeded <> new.succeeded or old.deleted_at is distinct from new.deleted_at)))
      execute function announce_batcher()`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
