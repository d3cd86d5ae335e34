/** Records of a list from a place on, and whether others match behind them. */
export interface Page<T> {
  records: T[];
  limit: number;
  more: boolean;
}

/** Returns a page. It is read by asking for one record more than the page shows. */
export async function onePage<T>(limit: number, read: (rows: number) => Promise<T[]>): Promise<Page<T>> {
  const rows = await read(limit + 1);
  return { records: rows.slice(0, limit), limit, more: rows.length > limit };
}

/** Returns the page with its records in another form. */
export function mapPage<T, Shown>(page: Page<T>, show: (record: T) => Shown): Page<Shown> {
  return { ...page, records: page.records.map(show) };
}
