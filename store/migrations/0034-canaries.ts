import { type Kysely, sql } from 'kysely';

/** Which components a rollout has sent as its canaries. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql.raw('alter table rollout_members add column canary boolean not null default false').execute(db);
}
