import { type Kysely, sql } from 'kysely';

/** Sessions that only check, what their runs found, and what is known of every component since its last check. */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    'alter table sessions add column muster jsonb',
    // Until the layer is recorded; then they are the component's.
    'alter table host_results add column changes jsonb, add column changes_left_out integer not null default 0',
    `create table drift (
      component_id text collate "C" not null references components (id) on delete cascade,
      layer_id uuid not null generated always as (layer_key(clone_url, playbook, '')) stored,
      clone_url text not null,
      playbook text not null,
      commit text not null,
      configuration text collate "C" not null,
      layer integer not null,
      status text not null,
      changed integer not null,
      changes jsonb not null,
      changes_left_out integer not null,
      session_id uuid not null,
      session_name text not null,
      checked_at timestamptz not null,
      primary key (component_id, layer_id)
    )`,
    'create index drift_status on drift (status, component_id)',
    'create index drift_configuration on drift (configuration, component_id)',
    'create index drift_session on drift (session_id)',
    // What a call has made, so that the same one again makes nothing.
    `create table drift_checks (
      run_id text primary key,
      answer jsonb,
      made_at timestamptz not null
    )`,
    'create index drift_checks_made on drift_checks (made_at)',
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
