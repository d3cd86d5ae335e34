import type { Kysely } from 'kysely';
import { unsuccessfulHosts } from '../../store/host-results.ts';
import type { Database } from '../../store/tables.ts';

/** Hosts of a run that did not end `applied` (failed, unreachable, or broken off with the others), sorted. */
export async function failedHostsOf(db: Kysely<Database>, runId: string): Promise<string[]> {
  return unsuccessfulHosts(db, runId);
}
