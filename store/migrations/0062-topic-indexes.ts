import { type Kysely, sql } from 'kysely';

/** What changed last of tables that are large: topics of the stream look there. And when a piece of output arrived. */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    'create index operator_resources_updated_at on operator_resources (updated_at)',
    'create index placement_records_updated_at on placement_records (updated_at)',
    'create index schedule_runs_created_at on schedule_runs (created_at)',
    'create index drift_checked_at on drift (checked_at)',
    // Null: it was there before. An older release beside this one leaves it to the default, too.
    'alter table output add column at timestamptz',
    'alter table output alter column at set default now()',
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
