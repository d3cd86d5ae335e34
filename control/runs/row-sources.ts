import { eventOf, hostLogEntryOf, logEntryOf } from '../../domain/runs/stream-entries.ts';
import type { LogEntry, SessionEvent, StreamState } from '../../domain/runs/stream-schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { type EventFilter, readEventsAfter, readLastEvents } from '../../store/runs/event-reads.ts';
import { readLastOutput, readOutputAfter } from '../../store/runs/output-reads.ts';

/** Numbered rows of a stream as its readers see them. */
export interface RowSource<Row extends { seq: number }> {
  /** Equal for sources that give the same rows. */
  key: string;
  /** Up to which number everything can be read. */
  head(state: StreamState): number;
  /** At most `limit` rows above a number, ascending. */
  after(seq: number, limit: number): Promise<Row[]>;
  /** The newest `limit` rows, ascending. */
  last(limit: number): Promise<Row[]>;
}

export interface LogFilter {
  layer?: number | undefined;
  attempt?: number | undefined;
  /** The log of one host, made of its task results. */
  host?: string | undefined;
}

/** Task events of a stream. */
export function eventSource(db: Db, streamId: string, filter: EventFilter): RowSource<SessionEvent> {
  return events(db, streamId, filter, eventOf, 'events');
}

/** The log of a stream: the output of its playbooks, or with `host` what that host answered. */
export function logSource(db: Db, streamId: string, filter: LogFilter): RowSource<LogEntry> {
  const { layer, attempt, host } = filter;
  if (host !== undefined) {
    return events(db, streamId, { layer, attempt, host, type: 'host_result' }, hostLogEntryOf, 'host log');
  }
  return {
    key: `output ${streamId} ${layer} ${attempt}`,
    head: (state) => state.lastChunk,
    after: async (seq, limit) => (await readOutputAfter(db, streamId, { layer, attempt }, seq, limit)).map(logEntryOf),
    last: async (limit) => (await readLastOutput(db, streamId, { layer, attempt }, limit)).map(logEntryOf),
  };
}

function events<Row extends { seq: number }>(
  db: Db,
  streamId: string,
  filter: EventFilter,
  show: (row: Parameters<typeof eventOf>[0]) => Row,
  kind: string,
): RowSource<Row> {
  const { layer, attempt, host, type, result } = filter;
  return {
    key: `${kind} ${streamId} ${JSON.stringify([layer, attempt, host, type, result])}`,
    head: (state) => state.lastEvent,
    after: async (seq, limit) => (await readEventsAfter(db, streamId, filter, seq, limit)).map(show),
    last: async (limit) => (await readLastEvents(db, streamId, filter, limit)).map(show),
  };
}
