import { type Kysely, sql } from 'kysely';

/** First and last port of a machine's shells: who gives turns knows when none of them is free. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql.raw('alter table image_workers add column first_port integer, add column last_port integer').execute(db);
}
