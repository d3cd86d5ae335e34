/** Audit records. Triggers write them (see migration 0015), so that none is left out and each goes with its transaction. */
import { type Selectable, type SqlBool, sql } from 'kysely';
import { type BoundedPage, cutMembers, readBoundedPage } from '../connection/bounded-page.ts';
import type { Db } from '../connection/database.ts';
import type { AuditTable } from './tables.ts';

export type AuditRow = Selectable<AuditTable>;

/** All members must hold; undefined ones do not count. */
export interface AuditFilter {
  actor?: string | undefined;
  kind?: string | undefined;
  name?: string | undefined;
  action?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
  /** Kinds that are left out. */
  hidden: readonly string[];
}

/** Records have a time, and a number among those of equal time; later ones have greater ones. */
export interface AuditPlace {
  at: Date;
  id: number;
}

/** At most `limit` records older than a place, newest first, as far as they fit in a page. */
export async function listAuditRows(
  db: Db,
  filter: AuditFilter,
  after: AuditPlace | undefined,
  limit: number,
): Promise<BoundedPage<AuditRow>> {
  let query = db
    .selectFrom('audit')
    .select(['id', 'at', 'actor', 'action', 'kind', 'name', 'request_id', 'via', 'reason'])
    .select([cutMembers(sql`before`).as('before'), cutMembers(sql`after`).as('after')])
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1);
  for (const column of ['actor', 'kind', 'name', 'action'] as const) {
    const value = filter[column];
    if (value !== undefined) query = query.where(column, '=', value);
  }
  if (filter.since !== undefined) query = query.where('at', '>=', filter.since);
  if (filter.until !== undefined) query = query.where('at', '<=', filter.until);
  if (filter.hidden.length > 0) query = query.where('kind', 'not in', filter.hidden);
  if (after !== undefined) query = query.where(sql<SqlBool>`(at, id) < (${after.at}, ${after.id}::bigint)`);
  return readBoundedPage<AuditRow>(db, {
    query: sql`${query}`,
    order: sql`at desc, id desc`,
    size: sql`coalesce(octet_length(before::text), 0) + coalesce(octet_length(after::text), 0) + ${sql.lit(SMALL_MEMBERS)}`,
    limit,
  });
}

/** When the oldest change of a record that is kept was made; null where none is kept. */
export async function oldestChangeOf(db: Db, kind: string, name: string): Promise<Date | null> {
  const row = await db
    .selectFrom('audit')
    .select('at')
    .where('kind', '=', kind)
    .where('name', '=', name)
    .orderBy('at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return row?.at ?? null;
}

/** About the bytes of a record beside what it changed. */
const SMALL_MEMBERS = 400;

/** A change that no trigger sees: of something that is kept elsewhere. */
export interface Change {
  /** Who asks, where the attribution does not say. */
  actor: string | null;
  action: string;
  kind: string;
  name: string;
}

/** Records such a change, for the request that the attribution names. */
export async function insertAuditRow(db: Db, { actor, action, kind, name }: Change): Promise<void> {
  await sql`
    insert into audit (at, actor, action, kind, name, request_id, via, reason)
    select date_trunc('milliseconds', clock_timestamp()),
      case when writer ? 'actor' then writer ->> 'actor' else ${actor}::text end, ${action}, ${kind}, ${name},
      writer ->> 'request', writer ->> 'via', writer ->> 'reason'
    from (select audit_writer() as writer) as told`.execute(db);
}

/** What is not kept: records older than a time, and all but so many. */
export interface AuditLimits {
  before: Date;
  rows: number;
}

/** Removes at most `slice` of the oldest records; answers how many. Looks at no others, so it costs little when nothing is due. */
export async function deleteOldAuditRows(db: Db, { before, rows }: AuditLimits, slice: number): Promise<number> {
  const result = await sql`
    delete from audit where (at, id) in (
      select at, id from (select at, id from audit order by at, id limit ${slice}) as oldest
      where at < ${before} or id <= (select id from audit order by at desc, id desc limit 1) - ${rows}::bigint
    )`.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}
