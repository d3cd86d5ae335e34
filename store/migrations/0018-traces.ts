import { type Kysely, sql } from 'kysely';

/** The trace in which a session was asked for, as W3C's `traceparent`, so that its work joins it whoever starts it. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql.raw('alter table sessions add column trace text').execute(db);
}
