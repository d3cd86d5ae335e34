/** The stored end of a run, as the sentence of its session needs it. */

import { type LayerOutcome, NAMED_IN_A_SENTENCE } from '../../domain/sessions/outcome.ts';
import type { Db } from '../../store/connection/database.ts';
import { commonFailure, countHostsByStatus, readFailedHosts } from '../../store/runs/host-result-reads.ts';
import { countHostResults } from '../../store/runs/host-results.ts';
import { findRun } from '../../store/runs/runs.ts';

/** Exit status (null: lost or still open), what its hosts and those of its session reached, and why. */
export async function runOutcome(db: Db, runId: string): Promise<Omit<LayerOutcome, 'index' | 'playbook'>> {
  const run = await findRun(db, runId);
  const counts = await countHostResults(db, runId);
  const outcome = { exitCode: run?.exitCode ?? null, ...counts };
  if (run === null || run.sessionId === null) return outcome;
  const { sessionId } = run;
  const found = await countHostsByStatus(db, sessionId);
  const tally = {
    hosts: found.applied + found.failed + found.incomplete + found.not_reached,
    failed: found.failed,
    incomplete: found.incomplete,
    notReached: found.not_reached,
    failedNames: found.failed === 0 ? [] : await readFailedHosts(db, sessionId, NAMED_IN_A_SENTENCE),
  };
  const own = counts.brokeOff || counts.failedHosts === 0 ? run.error : null;
  const why = own ?? (counts.failedHosts === 0 ? null : await commonFailure(db, runId));
  return { ...outcome, why, tally };
}
