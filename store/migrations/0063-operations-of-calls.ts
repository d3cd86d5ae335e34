import { type Kysely, sql } from 'kysely';

/** Which work under an `Idempotency-Key` has made a call of a life cycle, so that a further try of it is answered. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`alter table deployment_actions add column operation text`.execute(db);
}
