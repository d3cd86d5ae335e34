import type { Kysely } from 'kysely';
import { unsuccessfulHosts } from '../../store/runs/host-results.ts';
import type { Database } from '../../store/tables.ts';

/**
 * Hosts of a session's layer that have not reached it before an attempt, sorted: their last result is not `applied` (failed, unreachable, or
 * broken off with the others). An attempt that came to an end before it came to a host says nothing of that one.
 */
export async function failedHostsOf(
  db: Kysely<Database>,
  attempt: { sessionId: string; layer: number; before: number },
): Promise<string[]> {
  return unsuccessfulHosts(db, attempt);
}
