/** Ends of single runs that somebody asked for: what Temporal does not hear is told again. */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table runs add column end_requested_at timestamptz`.execute(db);
  await sql`create index runs_end_requested on runs (end_requested_at) where end_requested_at is not null`.execute(db);
}
