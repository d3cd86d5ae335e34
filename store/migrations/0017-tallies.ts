import { type Kysely, sql } from 'kysely';

/**
 * What is counted for ever, whatever becomes of the records: one row for each bucket of a histogram, bucket 0 alone for
 * a plain count. And how late a run's events were when they were stored.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    `create table tallies (
      name text not null,
      label text not null,
      bucket int not null,
      count bigint not null,
      sum double precision not null,
      primary key (name, label, bucket)
    )`,
    'alter table runs add column event_lag_ms bigint not null default 0',
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
