import { type Kysely, sql } from 'kysely';

/** Since when the pod of a session's Job waits for what can never be: another worker that follows it counts on from there. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql.raw('alter table session_jobs add column impossible_since timestamptz').execute(db);
}
