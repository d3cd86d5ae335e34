import { type RawBuilder, sql } from 'kysely';

/** Returns `('a', 'b')` for a condition in SQL: as literals and not as parameters, so that partial indexes of these words fit. */
export function literals(words: readonly string[]): RawBuilder<unknown> {
  return sql`(${sql.join(words.map((word) => sql.lit(word)))})`;
}
