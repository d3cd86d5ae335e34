/** Keeps the events of each AppContext within bounds: one that is there for years hears of its clusters for years. */
import { EVENTS_KEPT, EVENTS_KEPT_MS } from '../../domain/deployments/event-schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { forgetEvents, listFullStreams } from '../../store/deployments/context-events.ts';

/** AppContexts of one sweep, and events that one statement forgets. */
const STREAMS = 100;
const PORTION = 10_000;

export interface ForgetDependencies {
  db: Db;
  clock(): Date;
  /** Events of an AppContext that stay whatever their age; default: `EVENTS_KEPT`. */
  kept?: number;
}

/** Makes the sweep, which forgets the oldest events where an AppContext has too many. What is young stays: its readers may be on their way. */
export function createEventSweep({
  db,
  clock,
  kept = EVENTS_KEPT,
}: ForgetDependencies): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    const before = new Date(clock().getTime() - EVENTS_KEPT_MS);
    for (const { context, first } of await listFullStreams(db, kept, STREAMS)) {
      let forgotten = PORTION;
      while (forgotten === PORTION) {
        signal.throwIfAborted();
        forgotten = await forgetEvents(db, context, { first, before, limit: PORTION });
      }
    }
  };
}
