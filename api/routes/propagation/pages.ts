/** What lists of this lane answer alike. */
import type { z } from 'zod';
import type { PageQuerySchema } from '../../../domain/propagation/request-schema.ts';
import { pageAnswer } from '../../server/list-answer.ts';

/**
 * Returns a page of records as far as they fit.
 * @param query parameters of the request: the next page has the same ones, but for its beginning
 */
export function pageOfList<T, Kind extends string>(
  kind: Kind,
  { records, more }: { records: readonly T[]; more: boolean },
  query: z.infer<typeof PageQuerySchema> & Readonly<Record<string, unknown>>,
  idOf: (record: T) => string,
) {
  return pageAnswer(kind, records, more, (last) => ({ ...query, after_id: idOf(last) }));
}
