import type { Db } from '../../store/connection/database.ts';
import { unrecordedRuns } from '../../store/runs/runs.ts';
import { findSessionById } from '../../store/sessions/sessions.ts';
import { completeResults } from '../runs/follow-run.ts';
import { recordRun } from './record-run.ts';

/**
 * Before a session ends: makes results of its runs that nobody closed, as where the workflow was ended from outside or a machine is away, and
 * records those that nobody recorded. A run that its machine still has to end stays open until then. Repeating it is harmless.
 */
export async function settleRuns(db: Db, sessionId: string, now: Date): Promise<void> {
  const session = await findSessionById(db, sessionId);
  if (session === null || session.stage === 'ended') return;
  for (const run of await unrecordedRuns(db, sessionId)) {
    await db.transaction().execute((trx) => completeResults(trx, run, { hasResults: false, exitCode: run.exitCode }));
    await recordRun(db, { sessionId, layer: run.layer, attempt: run.attempt }, now);
  }
}
