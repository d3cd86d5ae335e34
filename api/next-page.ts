import { z } from 'zod';

/** `next` of a list: null, or the parameters of the next page (cfs-api 3). */
export const NextSchema = z.record(z.string(), z.unknown()).nullable();

/** `next` of configurations and sources. */
export function nextByName(
  query: { in_use?: boolean | undefined },
  page: { records: readonly { name: string }[]; limit: number; more: boolean },
): Record<string, unknown> | null {
  if (!page.more) return null;
  return { in_use: query.in_use ?? null, limit: page.limit, after_id: page.records.at(-1)?.name ?? '' };
}
