import type { Client } from '@temporalio/client';
import { storableText } from '../../domain/runs/storable-text.ts';
import { warningOf } from '../../domain/runs/warning-of.ts';
import { reconfigures } from '../../domain/sessions/check-mode.ts';
import type { RecordedEnd } from '../../domain/sessions/session-result.ts';
import type { Db } from '../../store/connection/database.ts';
import { appendEvents } from '../../store/runs/streams.ts';
import type { SessionRow } from '../../store/sessions/sessions.ts';
import { type SessionEnd, writeEnd } from '../../store/sessions/write-end.ts';
import { reconfigureDrifted } from '../components/reconfigure-drifted.ts';
import { hostsWarning } from '../components/record-layer.ts';
import { noteCancelInEngine } from './note-engine-cancel.ts';
import { recordedEnd } from './recorded-end.ts';
import { rewordLeaseWaits } from './reword-lease-waits.ts';
import { settleRuns } from './settle-runs.ts';
import { wakeLeaseWaiters } from './wake-lease-waiters.ts';
import { wakeQueue } from './wake-queue.ts';

/** Of a check that is to reconfigure, the layers that drifted are made to count as not configured in the same transaction. */
async function reconfigure(trx: Db, session: SessionRow, { reason }: SessionEnd, now: Date): Promise<void> {
  if (!reconfigures(session, reason)) return;
  const ids = await reconfigureDrifted(trx, session, now);
  await appendEvents(
    trx,
    { streamId: session.id, runId: null, layer: null, attempt: null },
    hostsWarning('drifted, to be configured again', ids).map((message) => warningOf(message, now)),
  );
}

/**
 * Writes the end of a session once, after what its runs have left unrecorded; gives its slot and its components back, and wakes who waits for them. The records of those that wait on for
 * others say so. Repeating it is harmless. Answers the end that is on record, which is another where somebody completed the session from
 * outside; null where the record is gone.
 */
export async function endSession(
  deps: { db: Db; client: Client; clock(): Date },
  sessionId: string,
  end: SessionEnd,
): Promise<RecordedEnd | null> {
  await settleRuns(deps.db, sessionId, deps.clock());
  // The command writes its cancel before the workflow hears of it: where none is on record, the cancel came to the engine itself.
  if (end.reason === 'cancelled') await noteCancelInEngine(deps.db, sessionId, deps.clock());
  const now = deps.clock();
  await writeEnd(deps.db, sessionId, { ...end, message: storableText(end.message) }, now, (trx, session) =>
    reconfigure(trx, session, end, now),
  );
  await rewordLeaseWaits(deps.db, sessionId);
  await wakeQueue(deps);
  await wakeLeaseWaiters(deps);
  return recordedEnd(deps.db, sessionId);
}
