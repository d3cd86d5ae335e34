/** A run's way into the database: opened, shipped piece by piece, closed. Shared by all lanes. */

import { ansibleError } from '../../domain/runs/ansible-words.ts';
import { RESULTS_LOST } from '../../domain/runs/exit-status.ts';
import type { RunBatch, RunCursor, RunEnd } from '../../domain/runs/runner.ts';
import type { EventLine, HostResult, ResultsFile } from '../../domain/runs/schema.ts';
import { storableHost, storableJson, storableTime } from '../../domain/runs/storable-text.ts';
import { warningOf } from '../../domain/runs/warning-of.ts';
import type { Db } from '../../store/connection/database.ts';
import { insertResultsFromEvents, insertUnreachedHosts, noteHostMessages } from '../../store/runs/event-results.ts';
import { insertHostResults } from '../../store/runs/host-results.ts';
import { readOutputEnd } from '../../store/runs/output-reads.ts';
import { markRunEnded, moveRunCursor, noteRunError, type RunRow } from '../../store/runs/runs.ts';
import { appendEvents, appendOutput, type NewEvent } from '../../store/runs/streams.ts';

/** Another watcher of the same run was quicker: go on from the stored cursor. */
export class RunOvertaken extends Error {
  override name = 'RunOvertaken';
}

/**
 * Stores one batch of events and output with the cursor behind it, all or nothing. Throws `RunOvertaken` when another watcher of the
 * same run was quicker; the caller starts over from the stored cursor.
 */
export async function shipBatch(db: Db, run: RunRow, from: RunCursor, batch: RunBatch, now: Date): Promise<void> {
  const { id: runId, streamId, layer, attempt } = run;
  const events = batch.events.map(({ line, event }) => newEventOf(line, event, now));
  const lag = lagOf(events, now);
  await db.transaction().execute(async (trx) => {
    if (!(await moveRunCursor(trx, runId, from, batch.cursor, lag)))
      throw new RunOvertaken(`run ${runId} has another watcher`);
    await appendEvents(trx, { streamId, runId, layer, attempt }, events);
    if (batch.output !== null) {
      await appendOutput(trx, { streamId, runId, layer, attempt }, batch.output.start, batch.output.text);
    }
  });
}

/** A line of events.jsonl as a row, whichever way it came. */
export function newEventOf(line: number, event: EventLine, now: Date): NewEvent {
  const { time, type, host, ...data } = event;
  return {
    line,
    type,
    host: host === undefined ? null : storableHost(host),
    data,
    time: storableTime(time, now),
  };
}

/** How late the newest of these events is, ms; undefined without events. A clock that is ahead is not late. */
export function lagOf(events: readonly NewEvent[], now: Date): number | undefined {
  const newest = events.at(-1)?.time;
  return newest === undefined ? undefined : Math.max(0, now.getTime() - newest.getTime());
}

/** The hosts of a results file as rows. */
export function hostResultsOf({ hosts }: ResultsFile): HostResult[] {
  return Object.entries(hosts).map(([host, result]) => ({ ...storableJson(result), host: storableHost(host) }));
}

/** So much of the end of a run's output is looked at for the error that ended it, in characters. */
const OUTPUT_END = 64 * 1024;

/**
 * Stores how the run ended and what its hosts reached, once, with what was wrong with its files among its events. Where the run came to no
 * results of its own, they are made from its stored events, and the hosts of its plays that have none are noted.
 */
export async function closeRun(db: Db, run: RunRow, end: RunEnd, now: Date): Promise<void> {
  const { id: runId, streamId, layer, attempt } = run;
  const results = end.results === null ? [] : hostResultsOf(end.results);
  const exitCode = end.exit?.code ?? null;
  await db.transaction().execute(async (trx) => {
    if (!(await markRunEnded(trx, runId, end.exit === null ? 'lost' : 'ended', exitCode, now))) return;
    await insertHostResults(trx, { ...run, runId }, results);
    await completeResults(trx, run, { hasResults: end.results !== null, exitCode });
    const error = exitCode === 0 ? null : ansibleError(await readOutputEnd(trx, runId, OUTPUT_END));
    if (error !== null) await noteRunError(trx, runId, error);
    const events: NewEvent[] = [
      ...end.warnings.map((warning) => warningOf(warning, now)),
      ...(error === null ? [] : [{ ...warningOf(error, now), type: 'error' }]),
    ];
    await appendEvents(trx, { streamId, runId: null, layer, attempt }, events);
  });
}

/** Results from the events of a run for which nobody handed in any, the hosts that it did not reach, and why hosts failed. */
export async function completeResults(
  trx: Db,
  run: RunRow,
  { hasResults, exitCode }: { hasResults: boolean; exitCode: number | null },
): Promise<void> {
  const place = { ...run, runId: run.id };
  // Where results could not be written, events may be missing too: no host counts as done.
  if (!hasResults) await insertResultsFromEvents(trx, place, { byStatistics: exitCode !== RESULTS_LOST });
  // A playbook that ended well was done with every host of its plays, whatever tasks it had for them.
  if (exitCode !== 0) await insertUnreachedHosts(trx, place);
  await noteHostMessages(trx, run.id);
}
