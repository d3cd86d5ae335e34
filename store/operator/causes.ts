/** What has made a resource run, on its row: the newest causes, the newest first. */
import { type RawBuilder, sql } from 'kysely';
import { CAUSES_KEPT, type Cause, type NotedCause } from '../../domain/operator/cause.ts';

/** Returns a cause with its time, as it is on record. */
export function notedCause(cause: Cause, at: Date): NotedCause {
  return { ...cause, at: at.toISOString() };
}

/** The causes of the resource `r` with more in front, so many as are kept. `more`: an array as jsonb, the newest first. */
export function causesWith(more: RawBuilder<unknown>): RawBuilder<unknown> {
  const last = sql.lit(`$[0 to ${CAUSES_KEPT - 1}]`);
  return sql`jsonb_path_query_array(${more} || coalesce(r.causes, '[]'), ${last})`;
}

/** The causes of the resource `r` with this one in front. */
export function causesWithOne(cause: Cause, at: Date): RawBuilder<unknown> {
  return causesWith(sql`${JSON.stringify([notedCause(cause, at)])}::jsonb`);
}
