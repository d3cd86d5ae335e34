import { musterError } from '../../domain/errors.ts';
import { storableText } from '../../domain/runs/storable-text.ts';
import { textChunkLength } from '../../domain/runs/text-chunk.ts';
import type { Db } from '../../store/connection/database.ts';
import { holdRun, markRunStarted, moveRunCursor } from '../../store/runs/runs.ts';
import { appendOutput } from '../../store/runs/streams.ts';
import { positionOf, presentRun, type RunPosition } from './run-position.ts';

export interface OutputPart {
  /** Byte of the run's log at which it begins. */
  offset: number;
  bytes: Uint8Array;
  /** Whether the log ends with it: else what follows its last line end (or last whole character) is left for the next part. */
  final: boolean;
}

/** What the launcher writes between head and tail of a log that it cut. */
const CUT_NOTE = 1024;

/**
 * Stores a part of a remote run's log. What is stored already is left as it is; a gap is `run_position`; more than `logMax`
 * bytes in all are `run_log_full`, since the sender keeps only that much. The answer says where the next part begins.
 */
export async function takeOutput(
  { db, clock }: { db: Db; clock(): Date },
  runId: string,
  { offset, bytes, final }: OutputPart,
  { logMax }: { logMax: number },
): Promise<RunPosition> {
  return db.transaction().execute(async (trx) => {
    const run = presentRun(await holdRun(trx, runId));
    const { cursor, streamId, layer, attempt } = run;
    const known = cursor.outputBytes - offset;
    if (known < 0) {
      throw musterError('run_position', `The next byte is ${cursor.outputBytes}, not ${offset}`, 'offset');
    }
    const fresh = bytes.subarray(known);
    const length = textChunkLength(fresh, final);
    if (length === 0) return positionOf(run);
    const to = { ...cursor, outputBytes: cursor.outputBytes + length };
    if (to.outputBytes > logMax + CUT_NOTE) {
      throw musterError('run_log_full', `The log of a run is kept up to ${logMax} bytes (MUSTER_LOG_MAX)`);
    }
    const text = storableText(Buffer.from(fresh.subarray(0, length)).toString('utf8'));
    await appendOutput(trx, { streamId, runId, layer, attempt }, cursor.outputBytes, text);
    await moveRunCursor(trx, runId, cursor, to);
    if (run.state === 'created') await markRunStarted(trx, runId, clock());
    return positionOf({ ...run, state: run.state === 'created' ? 'started' : run.state, cursor: to });
  });
}
