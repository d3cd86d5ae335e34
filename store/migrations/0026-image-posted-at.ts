import { type Kysely, sql } from 'kysely';

/** When the job of a session's image was asked for last: so long after that one may still appear of which nobody has the id. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql.raw('alter table session_images add column posted_at timestamptz').execute(db);
}
