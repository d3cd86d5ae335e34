import { type Kysely, sql } from 'kysely';

/** What Muster's own annotations of a resource say. */
export async function up(db: Kysely<never>): Promise<void> {
  // Null: it has none of them.
  await sql`alter table operator_resources add column own_annotations jsonb`.execute(db);
}
