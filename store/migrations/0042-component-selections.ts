/** Components that a person has chosen, kept for a short time so that what is shown first is what is changed then. */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table component_selections (
      id uuid primary key,
      ids text[] not null,
      expires_at timestamptz not null
    )`.execute(db);
  await sql`create index component_selections_expires_at on component_selections (expires_at)`.execute(db);
}
