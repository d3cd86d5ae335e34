import { type Kysely, sql } from 'kysely';

/** Whether a session's limit is hosts that it names, made by Muster, and no pattern that a person wrote. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql.raw('alter table sessions add column limit_of_hosts boolean not null default false').execute(db);
}
