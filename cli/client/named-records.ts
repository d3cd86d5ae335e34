import type { ApiClient, Query } from './api-client.ts';
import { pages } from './pages.ts';

/** Ids in one request, so that its URL stays short. */
const IDS_IN_URL = 500;

/**
 * Records of a list, of these ids alone where there are `names`. No name means no record: a request without ids would be for all. `limit` bounds the
 * records in all.
 */
export async function namedRecords<T>(
  api: ApiClient,
  { path, kind, query, names }: { path: string; kind: string; query: Query; names: readonly string[] | undefined },
  limit = Number.POSITIVE_INFINITY,
): Promise<T[]> {
  const queries = names === undefined ? [query] : slices(names).map((ids) => ({ ...query, ids: ids.join(',') }));
  const found: T[] = [];
  for (const one of queries) {
    if (found.length >= limit) break;
    for await (const record of pages<T>(api, path, kind, one, limit - found.length)) found.push(record);
  }
  return found;
}

const slices = (names: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(names.length / IDS_IN_URL) }, (_, index) =>
    names.slice(index * IDS_IN_URL, (index + 1) * IDS_IN_URL),
  );
