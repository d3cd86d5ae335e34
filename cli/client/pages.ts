import type { ApiClient, Query } from './api-client.ts';

/** Records asked for in one request, unless fewer are wanted in all. */
const PAGE_SIZE = 1000;

/**
 * All records of a paged list, page after page as they are consumed; `next` is fed back as it came (cfs-api 3).
 * `limit` bounds the records in all.
 */
export async function* pages<T>(
  api: ApiClient,
  path: string,
  kind: string,
  query: Query = {},
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<T> {
  let left = limit;
  let parameters: Query | null = { ...query, limit: Math.min(PAGE_SIZE, left) };
  while (parameters !== null && left > 0) {
    const page: Record<string, unknown> = await api.json({ method: 'GET', path, query: parameters });
    const records = page[kind] as T[];
    for (const record of records.slice(0, left)) yield record;
    left -= records.length;
    const next = (page.next ?? null) as Query | null;
    parameters = next === null ? null : { ...next, limit: Math.min(PAGE_SIZE, left) };
  }
}

/** The whole list at once. */
export async function allPages<T>(...args: Parameters<typeof pages>): Promise<T[]> {
  const records: T[] = [];
  for await (const record of pages<T>(...args)) records.push(record);
  return records;
}
