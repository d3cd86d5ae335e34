/** Counts and durations that outlive the records they were made of. */
import { type RawBuilder, sql } from 'kysely';
import { BOUNDS, type CountName, type DurationName } from '../../domain/service/tallies.ts';
import type { Db } from './database.ts';

/** Counts one more. In a transaction make it the last statement: others that count the same wait for its end. */
export function countOne(db: Db, name: CountName, label: string): Promise<void> {
  return countMore(db, name, label, 1);
}

/** Counts so many more. See `countOne` for transactions. */
export async function countMore(db: Db, name: CountName, label: string, more: number): Promise<void> {
  await sql`
    insert into tallies (name, label, bucket, count, sum) values (${name}, ${label}, 0, ${more}, 0)
    on conflict (name, label, bucket) do update set count = tallies.count + excluded.count
  `.execute(db);
}

/** Counts so many more of each label, in one statement. */
export async function countEach(db: Db, name: CountName, counts: ReadonlyMap<string, number>): Promise<void> {
  if (counts.size === 0) return;
  // In one order: workers that count the same labels wait for each other, and never in a circle.
  const rows = [...counts].sort(([one], [other]) => (one < other ? -1 : 1));
  await sql`
    insert into tallies (name, label, bucket, count, sum)
    values ${sql.join(rows.map(([label, more]) => sql`(${name}, ${label}, 0, ${more}, 0)`))}
    on conflict (name, label, bucket) do update set count = tallies.count + excluded.count
  `.execute(db);
}

/** Adds a duration, seconds; it may be an expression of SQL. Null adds nothing. See `countOne` for transactions. */
export async function addDuration(
  db: Db,
  name: DurationName,
  seconds: number | RawBuilder<number | null>,
): Promise<void> {
  await sql`${insertDuration(name, sql`select ${seconds}::float8 as seconds`)}`.execute(db);
}

/** The statement that adds the durations that a query selects as `seconds`; for use behind a `with`. */
export function insertDuration(name: DurationName, query: RawBuilder<unknown>): RawBuilder<unknown> {
  // A duration equal to a bound belongs below it; negative ones are clocks that were set back.
  const bucket = sql`width_bucket(greatest(seconds, 0) - 1e-9, ${sql.lit(`{${BOUNDS.join(',')}}`)}::float8[])`;
  return sql`
    insert into tallies (name, label, bucket, count, sum)
    select ${name}, '', ${bucket}, count(*), sum(greatest(seconds, 0)) from (${query}) as measured
    where seconds is not null group by 3
    on conflict (name, label, bucket) do update
      set count = tallies.count + excluded.count, sum = tallies.sum + excluded.sum`;
}

export interface Tally {
  name: string;
  label: string;
  bucket: number;
  count: number;
  sum: number;
}

/** All of it. */
export async function readTallies(db: Db): Promise<Tally[]> {
  return db.selectFrom('tallies').selectAll().orderBy('name').orderBy('label').orderBy('bucket').execute();
}
