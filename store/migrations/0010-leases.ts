import { type Kysely, sql } from 'kysely';

/** Which session keeps others off a component, and which wait for it; hosts of a session's limit that its inventory does not have. */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    // Not bound to the component: one that is deleted and made again is the same machine.
    `create table component_leases (
      component_id text collate "C" primary key,
      session_id uuid not null references sessions (id) on delete cascade,
      taken_at timestamptz not null
    )`,
    'create index component_leases_session on component_leases (session_id)',
    `create table lease_requests (
      session_id uuid not null references sessions (id) on delete cascade,
      component_id text collate "C" not null,
      yielded boolean not null,
      primary key (session_id, component_id)
    )`,
    'create index lease_requests_component on lease_requests (component_id)',
    // What nobody else gets now: older sessions that run and wait come before whoever asks next.
    `create view held_components as
      select component_id, session_id from component_leases
      union all
      select r.component_id, r.session_id from lease_requests r join sessions s on s.id = r.session_id
      where s.stage = 'admitted'`,
    'alter table sessions add column absent_hosts text[]',
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
