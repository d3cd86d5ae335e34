import { type Kysely, sql } from 'kysely';

/** The line of image jobs that wait for their turn: since when one does, and how long its place is kept while it does not ask. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql.raw('alter table image_jobs add column turn_wanted_at timestamptz').execute(db);
  await sql.raw('alter table image_jobs add column place_until timestamptz').execute(db);
}
