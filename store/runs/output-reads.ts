/** Output of a stream's runs, read page by page. */
import { type SelectQueryBuilder, sql } from 'kysely';
import type { Db } from '../connection/database.ts';
import type { Database } from '../tables.ts';

export interface OutputRow {
  seq: number;
  run_id: string;
  layer: number;
  attempt: number;
  /** Byte offset in the run's log. */
  start: number;
  text: string;
  /** When it arrived; null where an older release has stored it. */
  at: Date | null;
}

export interface OutputFilter {
  layer?: number | undefined;
  attempt?: number | undefined;
}

function select(db: Db, streamId: string, filter: OutputFilter): SelectQueryBuilder<Database, 'output', OutputRow> {
  let query = db
    .selectFrom('output')
    .select(['seq', 'run_id', 'layer', 'attempt', 'start', 'text', 'at'])
    .where('stream_id', '=', streamId);
  if (filter.layer !== undefined) query = query.where('layer', '=', filter.layer);
  if (filter.attempt !== undefined) query = query.where('attempt', '=', filter.attempt);
  return query;
}

/** At most `limit` pieces with a number above `after`, ascending. */
export async function readOutputAfter(
  db: Db,
  streamId: string,
  filter: OutputFilter,
  after: number,
  limit: number,
): Promise<OutputRow[]> {
  return select(db, streamId, filter).where('seq', '>', after).orderBy('seq').limit(limit).execute();
}

/** The newest `limit` pieces, ascending. */
export async function readLastOutput(
  db: Db,
  streamId: string,
  filter: OutputFilter,
  limit: number,
): Promise<OutputRow[]> {
  const rows = await select(db, streamId, filter).orderBy('seq', 'desc').limit(limit).execute();
  return rows.reverse();
}

/** Pieces that are read at once from the end. */
const PIECES = 64;

/** The end of a run's output, at most so many characters. */
export async function readOutputEnd(db: Db, runId: string, limit: number): Promise<string> {
  const { rows } = await sql<{ text: string }>`
    select right(text, ${limit}) as text from output where run_id = ${runId} order by start desc limit ${PIECES}
  `.execute(db);
  let end = '';
  for (const { text } of rows) {
    if (end.length >= limit) break;
    end = text + end;
  }
  return end.slice(-limit);
}

/** The pieces of a run's output that hold a text, the newest `PIECES` of them, ascending and joined by line ends. */
export async function readOutputWith(db: Db, runId: string, part: string): Promise<string> {
  const { rows } = await sql<{ text: string }>`
    select text from output where run_id = ${runId} and strpos(text, ${part}) > 0 order by start desc limit ${PIECES}
  `.execute(db);
  return rows
    .reverse()
    .map(({ text }) => text)
    .join('\n');
}
