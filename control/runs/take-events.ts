import { musterError } from '../../domain/errors.ts';
import { eventOfLine } from '../../domain/runs/event-line.ts';
import type { Db } from '../../store/connection/database.ts';
import { holdRun, markRunStarted, moveRunCursor } from '../../store/runs/runs.ts';
import { appendEvents } from '../../store/runs/streams.ts';
import { lagOf, newEventOf } from './follow-run.ts';
import { positionOf, presentRun, type RunPosition } from './run-position.ts';

/** A longer line of events.jsonl is kept as a warning: no plugin writes one. */
const LINE_MAX = 256 * 1024;

/**
 * Stores whole lines of a remote run's events.jsonl, of which the first has number `firstLine` (from 1). Lines that are stored
 * already are left as they are, so anything may be sent again; a gap is `run_position` and stores nothing. Senders of
 * one run wait for each other. The sender has masked secrets before.
 */
export async function takeEvents(
  { db, clock }: { db: Db; clock(): Date },
  runId: string,
  firstLine: number,
  lines: readonly string[],
): Promise<RunPosition> {
  return db.transaction().execute(async (trx) => {
    const run = presentRun(await holdRun(trx, runId));
    const { cursor, streamId, layer, attempt } = run;
    const known = cursor.lines - (firstLine - 1);
    if (known < 0) {
      throw musterError('run_position', `The next line is ${cursor.lines + 1}, not ${firstLine}`, 'first_line');
    }
    const fresh = lines.slice(known);
    if (fresh.length === 0) return positionOf(run);
    const now = clock();
    const bytes = fresh.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
    const to = { ...cursor, lines: cursor.lines + fresh.length, eventBytes: cursor.eventBytes + bytes };
    const events = fresh.map((line, index) =>
      newEventOf(cursor.lines + index + 1, eventOfLine(line.length > LINE_MAX ? '' : line, now), now),
    );
    await appendEvents(trx, { streamId, runId, layer, attempt }, events);
    await moveRunCursor(trx, runId, cursor, to, lagOf(events, now));
    if (run.state === 'created') await markRunStarted(trx, runId, now);
    return positionOf({ ...run, state: run.state === 'created' ? 'started' : run.state, cursor: to });
  });
}
