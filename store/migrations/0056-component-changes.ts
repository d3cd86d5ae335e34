import { type Kysely, sql } from 'kysely';

/** Which components changed last, or since a time: lists ask for that, and pages that follow them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index components_updated_at on components (updated_at)`.execute(db);
}
