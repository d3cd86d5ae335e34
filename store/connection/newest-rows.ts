import { type RawBuilder, sql } from 'kysely';

/** Rows that are looked at, unless the caller says otherwise. */
const MOST = 100;

/**
 * Returns a text that differs whenever one of the first rows was made or written, or is another: of each, where it is and which transaction wrote
 * it. Times alone would not do: what commits later may have the earlier time. Locks of rows change nothing.
 * @param from table, condition and order, by an index or of a small table
 */
export function newestRows(from: RawBuilder<unknown>, most = MOST): RawBuilder<string> {
  return sql<string>`(select md5(string_agg(concat(place, ' ', writer), ',' order by place)) from (
    select ctid as place, xmin::text as writer from ${from} limit ${most}) as newest)`;
}

/** What was deleted last, of all that the audit knows: what is made and deleted between two looks leaves tables as they were, and a page may have read it. */
export const LAST_DELETION: RawBuilder<number> = sql`(select id from audit where action = 'delete' order by at desc, id desc limit 1)`;
