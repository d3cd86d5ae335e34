import type { Db } from '../../store/connection/database.ts';
import { saveRunToken } from '../../store/runs/run-tokens.ts';
import { hashToken, newToken } from '../access/token-secret.ts';

/**
 * A new token for a run that is executed elsewhere: with it, and with nothing else, its events, output, results and exit status
 * are handed in. Shown only here; an older token of the run is void from now on, so a repeated issue is harmless. The run
 * must be on record.
 */
export async function issueRunToken(db: Db, runId: string, now: Date): Promise<string> {
  const token = newToken('run');
  if (!(await saveRunToken(db, runId, hashToken(token), now))) throw new Error(`there is no run ${runId}`);
  return token;
}
