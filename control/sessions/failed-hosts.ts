import type { Db } from '../../store/connection/database.ts';
import { unsuccessfulHosts } from '../../store/runs/host-results.ts';

/**
 * Hosts of a session's layer that have not reached it before an attempt, sorted: their last result is not `applied` (failed, unreachable, or
 * broken off with the others). An attempt that came to an end before it came to a host says nothing of that one.
 */
export async function failedHostsOf(
  db: Db,
  attempt: { sessionId: string; layer: number; before: number },
): Promise<string[]> {
  return unsuccessfulHosts(db, attempt);
}
