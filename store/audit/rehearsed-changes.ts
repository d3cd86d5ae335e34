/** What one request has written, read from its audit records before they are taken back. */
import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';

export interface RehearsedChange {
  kind: string;
  name: string;
  action: string;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
}

/** The first changes of a request, in the order in which they were made. */
export async function firstChanges(db: Db, requestId: string, limit: number): Promise<RehearsedChange[]> {
  return db
    .selectFrom('audit')
    .select(['kind', 'name', 'action', 'before', 'after'])
    .where('request_id', '=', requestId)
    .where('at', '>=', sql<Date>`date_trunc('milliseconds', transaction_timestamp())`)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** The records that a request has changed: their names by kind. */
export async function changedNames(db: Db, requestId: string): Promise<Map<string, string[]>> {
  const rows = await db
    .selectFrom('audit')
    .select(['kind', sql<string[]>`array_agg(distinct name)`.as('names')])
    .where('request_id', '=', requestId)
    .where('at', '>=', sql<Date>`date_trunc('milliseconds', transaction_timestamp())`)
    .groupBy('kind')
    .execute();
  return new Map(rows.map(({ kind, names }) => [kind, names]));
}
