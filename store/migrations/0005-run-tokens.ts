import { type Kysely, sql } from 'kysely';

/** One token for each run that is executed elsewhere; it goes with its run. */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    `create table run_tokens (
      run_id text collate "C" primary key references runs (id) on delete cascade,
      hash bytea not null unique,
      issued_at timestamptz not null
    )`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
