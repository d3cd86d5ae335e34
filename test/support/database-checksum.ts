import { type Kysely, sql } from 'kysely';
import type { Database } from '../../store/tables.ts';

/** Hash of each table's content, so that two moments can be compared. Tables that are named in `without` are left out. */
export async function databaseChecksum(db: Kysely<Database>, without: readonly string[] = []): Promise<string> {
  const tables = (
    await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' order by tablename`.execute(db)
  ).rows;
  const sums = tables
    .filter(({ name }) => !without.includes(name))
    .map(
      ({ name }) =>
        sql`select ${name}::text as name, md5(coalesce(string_agg(t::text, E'\n' order by t::text), '')) as sum
            from ${sql.table(name)} t`,
    );
  const { rows } = await sql<{ name: string; sum: string }>`${sql.join(sums, sql` union all `)}`.execute(db);
  // Parts of a union come in any order.
  return rows
    .map(({ name, sum }) => `${name} ${sum}`)
    .sort()
    .join('\n');
}
