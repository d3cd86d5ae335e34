import { type Kysely, sql } from 'kysely';

/**
 * Results that were made from the events of a run that ended without statistics; why a host failed and why Ansible ended a run, in one
 * line each; and the hosts of a play that no task of a run reached.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    'alter table host_results add column from_events boolean not null default false, add column message text',
    'alter table runs add column error text',
    `create table unreached_hosts (
      run_id text collate "C" not null,
      session_id uuid,
      layer integer not null,
      attempt integer not null,
      host text collate "C" not null,
      primary key (run_id, host)
    )`,
    'create index unreached_hosts_session on unreached_hosts (session_id, host)',
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
