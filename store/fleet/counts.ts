/** Components by what they desire. */
import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';

/** Counts components by desired configuration, most first, at most `limit` of them. */
export async function countByConfiguration(db: Db, limit: number): Promise<{ configuration: string; count: number }[]> {
  return db
    .selectFrom('components')
    .select(['desired_config as configuration', sql<number>`count(*)::int`.as('count')])
    .groupBy('desired_config')
    .orderBy('count', 'desc')
    .orderBy('desired_config')
    .limit(limit)
    .execute();
}
