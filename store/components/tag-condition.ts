import { type RawBuilder, sql } from 'kysely';

/**
 * The condition that a column of tags has all these pairs, none without pairs. However many there are, it is one parameter:
 * a statement takes no more than 65,535.
 */
export function hasTags(
  column: string,
  pairs: readonly (readonly [key: string, value: string])[],
): RawBuilder<boolean>[] {
  if (pairs.length === 0) return [];
  const wanted = new Map(pairs);
  // No tag has two values.
  if (pairs.some(([key, value]) => wanted.get(key) !== value)) return [sql<boolean>`false`];
  return [sql<boolean>`${sql.ref(column)} @> ${JSON.stringify(Object.fromEntries(wanted))}::jsonb`];
}
