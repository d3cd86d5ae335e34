import { z } from 'zod';

/** `next` of a list: null, or the parameters of the next page (cfs-api 3). */
export const NextSchema = z.record(z.string(), z.unknown()).nullable();

/** `next` of configurations and sources, behind the one of that name. */
export function nextByName(
  query: { in_use?: boolean | undefined },
  limit: number,
  last: string,
): Record<string, unknown> {
  return { in_use: query.in_use ?? null, limit, after_id: last };
}
