import { type Kysely, sql } from 'kysely';

/** What changed last of tables that are large: topics of the stream look there. */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    'create index operator_resources_updated_at on operator_resources (updated_at)',
    'create index placement_records_updated_at on placement_records (updated_at)',
    'create index schedule_runs_created_at on schedule_runs (created_at)',
    'create index drift_checked_at on drift (checked_at)',
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
