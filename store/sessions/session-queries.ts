/** Lists of sessions and what is done to many at once; deleted ones are never seen. */
import { type SelectQueryBuilder, sql } from 'kysely';
import type { SessionStatus, Succeeded } from '../../domain/sessions/schema.ts';
import { hasTags } from '../components/tag-condition.ts';
import type { Db } from '../connection/database.ts';
import { STREAM_CHANNEL } from '../runs/streams.ts';
import type { Database } from '../tables.ts';
import type { SessionRow } from './sessions.ts';

/** What a list is narrowed to; all members must hold, absent or null ones do not count. */
export interface SessionFilter {
  status?: SessionStatus | null;
  succeeded?: Succeeded | null;
  nameContains?: string | null;
  /** Each tag with its value. */
  tags?: [key: string, value: string][];
  /** Started at or before. */
  startedBefore?: Date | null;
  /** Started at or after. */
  startedAfter?: Date | null;
  configuration?: string | null;
  names?: readonly string[] | null;
  /** Sessions with a result of one of these hosts, or whose limit names one. */
  hosts?: readonly string[] | null;
  /** Sessions that no other one retries. */
  unretried?: boolean;
  /** Sessions that did not succeed, or not yet. */
  unsuccessful?: boolean;
}

/** `name`: ascending by code point, after a name. `newest`: latest creation first, after a queue number. */
export type SessionOrder = { by: 'name'; after: string } | { by: 'newest'; after: number | null };

function narrowed<Output>(
  query: SelectQueryBuilder<Database, 'sessions', Output>,
  filter: SessionFilter,
): SelectQueryBuilder<Database, 'sessions', Output> {
  let result = query.where('deleted_at', 'is', null);
  if (filter.status) result = result.where('status', '=', filter.status);
  if (filter.succeeded) result = result.where('succeeded', '=', filter.succeeded);
  if (filter.nameContains) result = result.where(sql<boolean>`position(${filter.nameContains} in name) > 0`);
  if (filter.startedBefore) result = result.where('start_time', '<=', filter.startedBefore);
  if (filter.startedAfter) result = result.where('start_time', '>=', filter.startedAfter);
  if (filter.configuration) result = result.where('configuration_name', '=', filter.configuration);
  if (filter.names) result = result.where('name', '=', sql<string>`any(${[...filter.names]})`);
  if (filter.hosts) {
    const hosts = sql`${[...filter.hosts]}::text[]`;
    result = result.where(
      sql<boolean>`(string_to_array(ansible_limit, ',') && ${hosts}
        or exists (select from host_results r where r.session_id = sessions.id and r.host = any(${hosts})))`,
    );
  }
  if (filter.unsuccessful) result = result.where('succeeded', '<>', 'true');
  if (filter.unretried) {
    result = result.where(
      sql<boolean>`not exists (select from sessions later where later.retry_of = sessions.id and later.deleted_at is null)`,
    );
  }
  for (const condition of hasTags('tags', filter.tags ?? [])) result = result.where(condition);
  return result;
}

/** One page of sessions, and whether more match after it. */
export async function listSessionPage(
  db: Db,
  filter: SessionFilter,
  order: SessionOrder,
  limit: number,
): Promise<{ rows: SessionRow[]; more: boolean }> {
  let query = narrowed(db.selectFrom('sessions').selectAll(), filter).limit(limit + 1);
  if (order.by === 'name') query = query.where('name', '>', order.after).orderBy('name');
  else {
    query = query.orderBy('queue', 'desc');
    if (order.after !== null) query = query.where('queue', '<', order.after);
  }
  const rows = await query.execute();
  return { rows: rows.slice(0, limit), more: rows.length > limit };
}

/** How many sessions match; what is above `most` is not counted. */
export async function countSessions(db: Db, filter: SessionFilter, most: number): Promise<number> {
  const matching = narrowed(db.selectFrom('sessions').select('id'), filter).limit(most);
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from (${matching}) as matching`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

/** At most `limit` names of sessions that match, in the order in which they were made. */
export async function listSessionNames(db: Db, filter: SessionFilter, limit: number): Promise<string[]> {
  const rows = await narrowed(db.selectFrom('sessions').select('name'), filter).orderBy('queue').limit(limit).execute();
  return rows.map(({ name }) => name);
}

/**
 * Which sessions to delete: those of a filter, the one of a name, or the complete ones whose end (else their start) is at or
 * before a time, the oldest first, at most `limit`.
 */
export type Doomed = { filter: SessionFilter } | { name: string } | { endedBefore: Date; limit: number };

/**
 * Deletes sessions: their names are free at once, those that have not ended are to be cancelled and their workflows get
 * a message for it, all in one transaction. Rows are locked in the order of their ids, so that two such calls do not
 * block each other; for the old ones those that somebody else has locked are left for the next time. Answers the names, sorted by code point.
 */
export async function deleteSessionRows(
  trx: Db,
  doomed: Doomed,
  { reason, actor, now }: { reason: string; actor: string | null; now: Date },
): Promise<{ names: string[]; cancelled: number }> {
  const ids = await lockDoomed(trx, doomed);
  if (ids.length === 0) return { names: [], cancelled: 0 };
  const { rows } = await sql<{ name: string; open: boolean }>`
    with gone as (
      update sessions set deleted_at = ${now}, updated_at = ${now}, updated_by = ${actor},
        cancel_actor = case when stage <> 'ended' and cancel_requested_at is null then ${actor} else cancel_actor end,
        cancel_requested_at = case when stage <> 'ended' then coalesce(cancel_requested_at, ${now}) else cancel_requested_at end,
        cancel_reason = case when stage <> 'ended' then coalesce(cancel_reason, ${reason}) else cancel_reason end
      where id = any(${ids}::uuid[])
      returning id, name, stage <> 'ended' as open
    ), messages as (
      insert into outbox (kind, session_id, created_at, next_try_at)
      select 'cancel', id, ${now}, ${now} from gone where open
    )
    select name, open, pg_notify(${STREAM_CHANNEL}, id::text) from gone order by name
  `.execute(trx);
  return { names: rows.map((row) => row.name), cancelled: rows.filter((row) => row.open).length };
}

/** Which sessions to cancel, of those that have not ended; absent members do not count. */
export interface CancelSelection extends Omit<SessionFilter, 'status'> {
  status?: readonly SessionStatus[] | undefined;
}

function cancellable<Output>(
  query: SelectQueryBuilder<Database, 'sessions', Output>,
  { status, ...filter }: CancelSelection,
): SelectQueryBuilder<Database, 'sessions', Output> {
  const open = narrowed(query, filter)
    .where('status', '<>', 'complete')
    .where('stage', '<>', 'ended')
    .where('cancel_requested_at', 'is', null);
  return status === undefined ? open : open.where('status', '=', sql<SessionStatus>`any(${[...status]})`);
}

/** The sessions that `cancelSessionRows` would cancel, and whether each waits for its turn; nothing is locked. */
export async function listCancellable(db: Db, selection: CancelSelection): Promise<{ name: string; waits: boolean }[]> {
  const waits = sql<boolean>`stage = 'queued'`.as('waits');
  return cancellable(db.selectFrom('sessions').select(['name', waits]), selection)
    .orderBy('id')
    .execute();
}

/** The sessions that `deleteSessionRows` would delete by a filter, and whether each has not ended; nothing is locked. */
export async function listDoomed(db: Db, filter: SessionFilter): Promise<{ name: string; open: boolean }[]> {
  const open = sql<boolean>`stage <> 'ended'`.as('open');
  return narrowed(db.selectFrom('sessions').select(['name', open]), filter)
    .orderBy('name')
    .execute();
}

/**
 * Notes for all sessions of the selection that have not ended and were not cancelled before that they are to be cancelled, with a message for
 * each workflow. A session that waits for its turn is complete at once: nothing of it runs. Answers how many there were, and how many of
 * them waited.
 */
export async function cancelSessionRows(
  trx: Db,
  selection: CancelSelection,
  { reason, message, actor, now }: { reason: string; message: string; actor: string | null; now: Date },
): Promise<{ cancelled: number; ended: number }> {
  const query = cancellable(trx.selectFrom('sessions').select('id'), selection);
  const ids = (await query.orderBy('id').forUpdate().execute()).map(({ id }) => id);
  if (ids.length === 0) return { cancelled: 0, ended: 0 };
  const { rows } = await sql<{ waited: boolean }>`
    with marked as (
      update sessions set cancel_requested_at = ${now}, cancel_reason = ${reason}, cancel_actor = ${actor},
        updated_by = ${actor}, updated_at = ${now}, message = case when stage = 'queued' then ${reason} else ${message} end,
        reason = case when stage = 'queued' then 'cancelled' else reason end,
        status = case when stage = 'queued' then 'complete' else status end,
        succeeded = case when stage = 'queued' then 'false' else succeeded end,
        completion_time = case when stage = 'queued' then ${now}::timestamptz else completion_time end
      where id = any(${ids}::uuid[]) returning id, stage = 'queued' as waited
    ), messages as (
      insert into outbox (kind, session_id, created_at, next_try_at) select 'cancel', id, ${now}, ${now} from marked
    )
    select waited, pg_notify(${STREAM_CHANNEL}, id::text) from marked
  `.execute(trx);
  return { cancelled: rows.length, ended: rows.filter(({ waited }) => waited).length };
}

/** Which of these names sessions have, and whether they are complete. */
export async function findNames(db: Db, names: readonly string[]): Promise<Map<string, boolean>> {
  const rows = await db
    .selectFrom('sessions')
    .select(['name', sql<boolean>`status = 'complete'`.as('complete')])
    .where('deleted_at', 'is', null)
    .where('name', '=', sql<string>`any(${[...names]})`)
    .execute();
  return new Map(rows.map(({ name, complete }) => [name, complete]));
}

async function lockDoomed(trx: Db, doomed: Doomed): Promise<string[]> {
  const live = narrowed(trx.selectFrom('sessions').select('id'), 'filter' in doomed ? doomed.filter : {});
  const end = sql<Date>`coalesce(completion_time, start_time)`;
  const locked =
    'endedBefore' in doomed
      ? live
          .where('status', '=', 'complete')
          .where(end, '<=', doomed.endedBefore)
          .orderBy(end)
          .limit(doomed.limit)
          .forUpdate()
          .skipLocked()
      : ('name' in doomed ? live.where('name', '=', doomed.name) : live).orderBy('id').forUpdate();
  return (await locked.execute()).map(({ id }) => id);
}

/** The limit of the session of a name; null where it has none. */
export async function limitOfSession(db: Db, name: string): Promise<string | null> {
  const row = await db
    .selectFrom('sessions')
    .select('ansible_limit')
    .where('name', '=', name)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row?.ansible_limit ?? null;
}
