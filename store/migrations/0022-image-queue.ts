import { type Kysely, sql } from 'kysely';

/** When the job of a session's image was last seen to wait for its turn at the image service: such a wait is counted apart. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql.raw('alter table session_images add column queued_at timestamptz').execute(db);
}
