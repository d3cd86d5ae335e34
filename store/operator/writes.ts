/** What runs wrote in their clusters: events of their streams. */
import type { RunWrite, RunWrites } from '../../domain/operator/write-list.ts';
import type { Db } from '../connection/database.ts';
import { appendEvents } from '../runs/streams.ts';

const WRITE = 'write';
const TOTAL = 'writes';

export interface TimedWrite {
  time: Date;
  write: RunWrite;
}

/** Appends writes of a run to its stream. A stream that is gone takes nothing. */
export async function appendWrites(db: Db, runId: string, writes: readonly TimedWrite[]): Promise<void> {
  const events = writes.map(({ time, write }) => ({ time, type: WRITE, host: null, line: null, data: { ...write } }));
  await appendEvents(db, { streamId: runId, runId, layer: null, attempt: null }, events);
}

/** Notes how many writes a run made in all, where not all are listed. */
export async function appendWriteTotal(db: Db, runId: string, total: number, time: Date): Promise<void> {
  const event = { time, type: TOTAL, host: null, line: null, data: { total } };
  await appendEvents(db, { streamId: runId, runId, layer: null, attempt: null }, [event]);
}

/** Returns what a run wrote, in order, and how many writes there were. */
export async function readWrites(db: Db, runId: string): Promise<RunWrites> {
  const rows = await db
    .selectFrom('events')
    .select(['type', 'data'])
    .where('stream_id', '=', runId)
    .where('type', 'in', [WRITE, TOTAL])
    .orderBy('seq')
    .execute();
  const listed = rows.filter(({ type }) => type === WRITE).map(({ data }) => data as unknown as RunWrite);
  const totals = rows.filter(({ type }) => type === TOTAL).map(({ data }) => Number(data.total));
  return { total: Math.max(listed.length, ...totals), listed };
}
