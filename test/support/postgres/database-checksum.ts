import { sql } from 'kysely';
import type { Db } from '../../../store/connection/database.ts';

/**
 * Answers how many statements have been about to change a table since this call, also such as changed nothing or were rolled back: as
 * long as it answers the same, the content is the same. Tables that are named in `without` are left out.
 */
export async function countWrites(db: Db, without: readonly string[] = []): Promise<() => Promise<number>> {
  await sql`create sequence writes_seen minvalue 0 start 0`.execute(db);
  // A sequence keeps what a transaction that was rolled back has counted.
  await sql`create function see_write() returns trigger language plpgsql
    as 'begin perform nextval(''writes_seen''); return null; end'`.execute(db);
  for (const name of (await tableNames(db)).filter((one) => !without.includes(one))) {
    await sql`create trigger see_write after insert or update or delete or truncate on ${sql.table(name)}
      for each statement execute function see_write()`.execute(db);
  }
  const count = sql<{ count: number }>`select (last_value + is_called::int)::int as count from writes_seen`;
  return async () => (await count.execute(db)).rows[0]?.count ?? Number.NaN;
}

/** Hash of each table's content, so that two moments can be compared. Tables that are named in `without` are left out. */
export async function databaseChecksum(db: Db, without: readonly string[] = []): Promise<string> {
  const sums = (await tableNames(db))
    .filter((name) => !without.includes(name))
    .map(
      (name) =>
        // A sum takes the rows in any order, so nothing need be sorted for it.
        sql`select ${name}::text as name, concat(count(*), ' ', sum(hashtextextended(t::text, 0)::numeric)) as sum
            from ${sql.table(name)} t`,
    );
  const { rows } = await sql<{ name: string; sum: string }>`${sql.join(sums, sql` union all `)}`.execute(db);
  // Parts of a union come in any order.
  return rows
    .map(({ name, sum }) => `${name} ${sum}`)
    .sort()
    .join('\n');
}

async function tableNames(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' order by tablename`.execute(db);
  return rows.map(({ name }) => name);
}
