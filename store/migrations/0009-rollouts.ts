import { type Kysely, sql } from 'kysely';

/**
 * Rollouts: how far a version of a configuration with a rollout policy has come. One of them is current for each configuration;
 * the others are history.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    `create table rollouts (
      id bigint generated always as identity primary key,
      configuration text collate "C" not null,
      version text not null,
      state text not null,
      stage text not null,
      is_current boolean not null default true,
      reason text,
      components integer not null default 0,
      pending integer not null default 0,
      failed integer not null default 0,
      in_sessions integer not null default 0,
      done integer not null default 0,
      tries_failed integer not null default 0,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      ended_at timestamptz,
      stopped_at timestamptz,
      stopped_by text,
      resumed_at timestamptz,
      resumed_by text
    )`,
    'create unique index rollouts_current on rollouts (configuration) where is_current',
    'create index rollouts_past on rollouts (ended_at) where not is_current',
    'create index rollouts_of on rollouts (configuration, id)',
    // Components that a current rollout has sent; the outcome is null while they are in a session.
    `create table rollout_members (
      rollout_id bigint not null references rollouts (id) on delete cascade,
      component_id text collate "C" not null,
      batch_id uuid not null,
      outcome text,
      forgiven boolean not null default false,
      primary key (rollout_id, component_id)
    )`,
    'create index rollout_members_batch on rollout_members (batch_id)',
    `create index configurations_rollout on configurations (name) where record -> 'muster' ? 'rollout'`,
    // Stopped, resumed: the batcher looks at once.
    `create trigger batcher_rollout_changed after update on rollouts for each row
      when (new.state <> old.state) execute function announce_batcher()`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
