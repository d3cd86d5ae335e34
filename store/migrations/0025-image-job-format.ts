import { type Kysely, sql } from 'kysely';

/** The format of the image that a job works on: the image itself may be deleted before the new one is packed. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql.raw('alter table image_jobs add column format text').execute(db);
}
