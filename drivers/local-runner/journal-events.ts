import { eventOfLine } from '../../domain/runs/event-line.ts';
import type { RunBatch, RunCursor } from '../../domain/runs/runner.ts';
import { type RunPaths, readFrom } from './run-files.ts';

const EVENT_CHUNK = 1024 * 1024;

/** Returns the next events of a run, and how many bytes of its journal they take. `atEnd`: nothing is written any more. */
export type ReadEvents = (cursor: RunCursor, atEnd: boolean) => Promise<{ events: RunBatch['events']; bytes: number }>;

/** Reads the events that Muster's callback writes, line by line. */
export function journalEvents(paths: RunPaths): ReadEvents {
  return async (cursor, atEnd) => {
    const written = await readFrom(paths.events, cursor.eventBytes, EVENT_CHUNK);
    const lastBreak = written.lastIndexOf(0x0a);
    const bytes = lastBreak >= 0 ? lastBreak + 1 : atEnd || written.length === EVENT_CHUNK ? written.length : 0;
    if (bytes === 0) return { events: [], bytes };
    const lines = written.subarray(0, bytes).toString('utf8').replace(/\n$/, '').split('\n');
    const now = new Date();
    return {
      events: lines.map((line, index) => ({ line: cursor.lines + index + 1, event: eventOfLine(line, now) })),
      bytes,
    };
  };
}
