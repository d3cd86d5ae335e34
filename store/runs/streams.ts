/** Events and output of a stream: appended in order, so that a reader who saw number n never misses one below it. */
import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';

/** Channel on which each append and each change of a session is announced; the payload is the stream id. */
export const STREAM_CHANNEL = 'muster_stream';

export interface NewEvent {
  time: Date;
  type: string;
  host: string | null;
  /** Line in the run's events.jsonl, from 1; null for events of the session itself. */
  line: number | null;
  data: Record<string, unknown>;
}

/** Where the events of one append belong. */
export interface StreamPlace {
  streamId: string;
  runId: string | null;
  layer: number | null;
  attempt: number | null;
}

/** Makes the stream's counters; does nothing when they are there. */
export async function createStream(db: Db, streamId: string): Promise<void> {
  await db
    .insertInto('streams')
    .values({ id: streamId })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * Appends events in one statement. The counter's row lock makes numbers become visible in order. A line that is
 * stored already is left as it is, so shipping twice is harmless. A stream that is gone takes nothing.
 */
export async function appendEvents(db: Db, place: StreamPlace, events: NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  const rows = JSON.stringify(
    events.map((event, index) => ({
      index,
      line: event.line,
      time: event.time.toISOString(),
      type: event.type,
      host: event.host,
      data: event.data,
    })),
  );
  await sql`
    with counter as (
      update streams set next_event = next_event + ${events.length} where id = ${place.streamId}
      returning next_event - ${events.length} as first
    ), stored as (
      insert into events (stream_id, seq, run_id, line, layer, attempt, time, type, host, data)
      select ${place.streamId}, counter.first + new.index, ${place.runId}, new.line, ${place.layer}::int,
        ${place.attempt}::int, new.time, new.type, new.host, new.data
      from counter, jsonb_to_recordset(${rows}::jsonb)
        as new(index int, line bigint, time timestamptz, type text, host text, data jsonb)
      on conflict (run_id, line) where run_id is not null do nothing
    )
    select pg_notify(${STREAM_CHANNEL}, ${place.streamId})
  `.execute(db);
}

/** Whether one of the last `among` events of a stream is a warning of the session itself with this message. */
export async function wasWarnedOf(db: Db, streamId: string, message: string, among = 200): Promise<boolean> {
  const found = await db
    .selectFrom('events')
    .select('seq')
    .where('stream_id', '=', streamId)
    .where('seq', '>=', sql<number>`(select next_event - ${among} from streams where id = ${streamId})`)
    .where('run_id', 'is', null)
    .where('type', '=', 'warning')
    .where(sql<boolean>`data ->> 'message' = ${message}`)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** Appends a piece of a run's output that begins at byte `start` of its log; a piece that is stored already is kept. */
export async function appendOutput(
  db: Db,
  place: { streamId: string; runId: string; layer: number; attempt: number },
  start: number,
  text: string,
): Promise<void> {
  await sql`
    with counter as (
      update streams set next_chunk = next_chunk + 1 where id = ${place.streamId} returning next_chunk - 1 as seq
    ), stored as (
      insert into output (stream_id, seq, run_id, layer, attempt, start, text)
      select ${place.streamId}, counter.seq, ${place.runId}, ${place.layer}::int, ${place.attempt}::int,
        ${start}::bigint, ${text}
      from counter
      on conflict (run_id, start) do nothing
    )
    select pg_notify(${STREAM_CHANNEL}, ${place.streamId})
  `.execute(db);
}

/** Tells readers of the stream that its session changed. */
export async function announceStream(db: Db, streamId: string): Promise<void> {
  await sql`select pg_notify(${STREAM_CHANNEL}, ${streamId})`.execute(db);
}

/** Removes everything a stream holds. */
export async function deleteStream(db: Db, streamId: string): Promise<void> {
  await db.deleteFrom('events').where('stream_id', '=', streamId).execute();
  await db.deleteFrom('output').where('stream_id', '=', streamId).execute();
  await db.deleteFrom('streams').where('id', '=', streamId).execute();
}
