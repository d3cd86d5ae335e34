/** Runs of any owner, and the machines that have runs. A run of a session leaves both columns null, as older releases write it. */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table runs add column owner_kind text, add column owner_id text`.execute(db);
  await sql`create index runs_owner on runs (owner_kind, owner_id) where owner_kind is not null`.execute(db);
  await sql`
    create table run_machines (
      machine text primary key,
      queue text not null,
      kind text not null,
      seen_at timestamptz not null
    )`.execute(db);
}
