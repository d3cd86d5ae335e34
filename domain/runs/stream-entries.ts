import { hostLogText } from './host-log.ts';
import type { LogEntry, SessionEvent } from './stream-schema.ts';

/** Where a row belongs: its number in the stream, and the run it came from. */
interface Place {
  seq: number;
  layer: number | null;
  attempt: number | null;
}

interface EventRow extends Place {
  time: Date;
  type: string;
  host: string | null;
  data: Record<string, unknown>;
}

/** A task event on the wire: what the run reported, with its place in the session. */
export function eventOf({ seq, time, type, layer, attempt, host, data }: EventRow): SessionEvent {
  return { ...data, seq, time: time.toISOString(), type, layer, attempt, host };
}

/** A piece of a run's output on the wire. */
export function logEntryOf({ seq, layer, attempt, text }: Place & { text: string }): LogEntry {
  return { seq, layer, attempt, text };
}

/** One task result of a host as a piece of that host's log. */
export function hostLogEntryOf(row: EventRow): LogEntry {
  return { seq: row.seq, layer: row.layer, attempt: row.attempt, text: hostLogText(row) };
}
