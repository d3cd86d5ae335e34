/** Pages that end before they are too large to be sent, cut in the database, so that what is cut is not even read. */
import { type RawBuilder, sql } from 'kysely';
import { MAX_PAGE_BYTES } from '../../domain/page-size.ts';
import type { Db } from './database.ts';

export interface BoundedPage<Row> {
  rows: Row[];
  /** Whether there are more rows behind them. */
  more: boolean;
}

/** Values above this size, bytes, are looked at by `audit_cut`; others cannot be long as text. */
const SURELY_SMALL = 8_192;

/** A column of members of an audit record, with large values cut: older releases have stored them whole. */
export const cutMembers = (column: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`case when pg_column_compression(${column}) is null and pg_column_size(${column}) <= ${sql.lit(SURELY_SMALL)}
    then ${column} else audit_cut(${column}) end`;

/**
 * The first `limit` rows of a query that asks for one more, as far as they fit in a page.
 * @param query in its order, and limited
 * @param order the same order again
 * @param size SQL of the bytes of a row over its columns
 */
export async function readBoundedPage<Row>(
  db: Db,
  page: { query: RawBuilder<unknown>; order: RawBuilder<unknown>; size: RawBuilder<unknown>; limit: number },
): Promise<BoundedPage<Row>> {
  const { rows } = await sql<Row & { page_place: string; page_bytes: string; page_found: string }>`
    with page as materialized (${page.query}), measured as (
      select page.*, row_number() over (order by ${page.order}) as page_place,
        sum(${page.size}) over (order by ${page.order} rows unbounded preceding) as page_bytes,
        count(*) over () as page_found
      from page
    )
    select * from measured
    where page_place <= ${page.limit}::bigint and (page_bytes <= ${MAX_PAGE_BYTES}::bigint or page_place = 1)
    order by page_place
  `.execute(db);
  const more = Number(rows[0]?.page_found ?? 0) > rows.length;
  return {
    rows: rows.map(({ page_place: _place, page_bytes: _bytes, page_found: _found, ...row }) => row as Row),
    more,
  };
}
