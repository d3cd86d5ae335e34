import { countEvent, type EventSummary, emptySummary } from '../../domain/runs/event-summary.ts';
import type { Db } from '../../store/connection/database.ts';
import { readSummaryEvents } from '../../store/runs/event-reads.ts';

export interface SummaryReader {
  /** What the stream's events amount to now; the answer changes in place with later reads, so copy what is kept. */
  read(streamId: string): Promise<EventSummary>;
}

/** Summaries that are kept; each holds the names of one layer's hosts. */
const KEPT = 64;
const PAGE = 5_000;

/** Keeps the summaries of the streams read last, so that a read costs only the events that are new since. */
export function createSummaryReader(db: Db): SummaryReader {
  const kept = new Map<string, { summary: EventSummary; reading: Promise<void> }>();

  const readOn = async (streamId: string, summary: EventSummary) => {
    for (;;) {
      const events = await readSummaryEvents(db, streamId, summary.seq, PAGE);
      for (const event of events) countEvent(summary, event);
      if (events.length < PAGE) return;
    }
  };
  return {
    read: async (streamId) => {
      const entry = kept.get(streamId) ?? { summary: emptySummary(), reading: Promise.resolve() };
      // Moved to the end: the first of the map is the one not read for longest.
      kept.delete(streamId);
      kept.set(streamId, entry);
      const oldest = kept.keys().next().value;
      if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
      const reading = entry.reading.then(() => readOn(streamId, entry.summary));
      entry.reading = reading.catch(() => undefined);
      await reading;
      return entry.summary;
    },
  };
}
