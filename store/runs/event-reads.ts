/** Events of a stream, read page by page. */
import { type SelectQueryBuilder, sql } from 'kysely';
import type { Db } from '../connection/database.ts';
import type { Database } from '../tables.ts';

export interface EventRow {
  seq: number;
  run_id: string | null;
  layer: number | null;
  attempt: number | null;
  time: Date;
  type: string;
  host: string | null;
  data: Record<string, unknown>;
}

/** What is read of a stream; absent members do not narrow. */
export interface EventFilter {
  layer?: number | undefined;
  attempt?: number | undefined;
  host?: string | undefined;
  type?: string | undefined;
  /** Word of a task's result. */
  result?: string | undefined;
}

function select(db: Db, streamId: string, filter: EventFilter): SelectQueryBuilder<Database, 'events', EventRow> {
  let query = db
    .selectFrom('events')
    .select(['seq', 'run_id', 'layer', 'attempt', 'time', 'type', 'host', 'data'])
    .where('stream_id', '=', streamId);
  if (filter.layer !== undefined) query = query.where('layer', '=', filter.layer);
  if (filter.attempt !== undefined) query = query.where('attempt', '=', filter.attempt);
  if (filter.host !== undefined) query = query.where('host', '=', filter.host);
  if (filter.type !== undefined) query = query.where('type', '=', filter.type);
  if (filter.result !== undefined) query = query.where(sql<boolean>`data->>'result' = ${filter.result}`);
  return query;
}

/** At most `limit` events with a number above `after`, ascending. */
export async function readEventsAfter(
  db: Db,
  streamId: string,
  filter: EventFilter,
  after: number,
  limit: number,
): Promise<EventRow[]> {
  return select(db, streamId, filter).where('seq', '>', after).orderBy('seq').limit(limit).execute();
}

/** The newest `limit` events, ascending. */
export async function readLastEvents(
  db: Db,
  streamId: string,
  filter: EventFilter,
  limit: number,
): Promise<EventRow[]> {
  const rows = await select(db, streamId, filter).orderBy('seq', 'desc').limit(limit).execute();
  return rows.reverse();
}

/** The members of an event that a summary counts; output and messages stay where they are. */
export type SummaryRow = Pick<EventRow, 'seq' | 'layer' | 'attempt' | 'type' | 'host' | 'data'>;

/** At most `limit` events above a number, ascending, with only what a summary counts. */
export async function readSummaryEvents(db: Db, streamId: string, after: number, limit: number): Promise<SummaryRow[]> {
  const { rows } = await sql<SummaryRow>`
    select seq, layer, attempt, type, host,
      jsonb_build_object('play', data->'play', 'task', data->'task', 'result', data->'result') as data
    from events where stream_id = ${streamId} and seq > ${after} order by seq limit ${limit}
  `.execute(db);
  return rows;
}

/** Time of the event of that number, or null. */
export async function readEventTime(db: Db, streamId: string, seq: number): Promise<Date | null> {
  const row = await db
    .selectFrom('events')
    .select('time')
    .where('stream_id', '=', streamId)
    .where('seq', '<=', seq)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.time ?? null;
}
