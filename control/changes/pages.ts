/** A page of records and whether more match after it. */
export interface Page<T> {
  records: T[];
  limit: number;
  more: boolean;
}

/** Reads a page by asking for one record more than it shows. */
export async function onePage<T>(limit: number, read: (rows: number) => Promise<T[]>): Promise<Page<T>> {
  const rows = await read(limit + 1);
  return { records: rows.slice(0, limit), limit, more: rows.length > limit };
}
