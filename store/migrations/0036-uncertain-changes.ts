import { type Kysely, sql } from 'kysely';

/** How many of the changes of a check may come only of tasks that check mode skips; none in what an older release stores. */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    'alter table host_results add column uncertain integer not null default 0',
    'alter table drift add column uncertain integer not null default 0',
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
