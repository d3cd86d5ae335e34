import { type Kysely, sql } from 'kysely';

/** When a machine last could customise images: one that cannot for a moment is not one that is away for good. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql.raw('alter table image_workers add column able_at timestamptz').execute(db);
}
