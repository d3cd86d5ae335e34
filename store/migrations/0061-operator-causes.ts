import { type Kysely, sql } from 'kysely';

/** What has made a resource run. */
export async function up(db: Kysely<never>): Promise<void> {
  // The newest 20, the newest first; null: none since this column is there.
  await sql`alter table operator_resources add column causes jsonb`.execute(db);
}
