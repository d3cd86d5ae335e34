import { type Kysely, sql } from 'kysely';

/** Who ended and who changed a session; the order in which complete sessions grow old, and deleted ones are forgotten. */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    'alter table sessions add column cancel_actor text, add column updated_by text',
    `create index sessions_aging on sessions (coalesce(completion_time, start_time))
      where status = 'complete' and deleted_at is null`,
    'create index sessions_purged on sessions (purged_at) where purged_at is not null',
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
