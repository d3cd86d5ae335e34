import { type Kysely, sql } from 'kysely';

/** Resources that run for their dependents again and again. */
export async function up(db: Kysely<never>): Promise<void> {
  // `dependents_from`: before that time no dependent makes the resource run; null: each does at once.
  await sql`alter table operator_resources add column dependent_loop jsonb, add column dependents_from timestamptz`.execute(
    db,
  );
}
