/** Counts of deployments and clusters for metrics; no name of a cluster is among them. */
import { sql } from 'kysely';
import { CONNECTIVITIES, type Connectivity, connectivityOf } from '../../domain/deployments/connectivity.ts';
import { CONTEXT_STATES, type ContextState } from '../../domain/deployments/context-state.ts';
import type { Db } from '../connection/database.ts';

export interface DeploymentGauges {
  contexts: Record<ContextState, number>;
  clusters: Record<Connectivity, number>;
}

/** Returns how many AppContexts of deployments have each state, and how many clusters each connectivity. */
export async function countDeployments(db: Db, now: Date, staleAfterMs: number): Promise<DeploymentGauges> {
  const contexts = Object.fromEntries(CONTEXT_STATES.map((state) => [state, 0])) as Record<ContextState, number>;
  const { rows } = await sql<{ state: ContextState; count: number }>`
    select state, count(*)::int as count from deployment_contexts where cloud <> '' group by state`.execute(db);
  for (const { state, count } of rows) contexts[state] = count;
  const clusters = Object.fromEntries(CONNECTIVITIES.map((word) => [word, 0])) as Record<Connectivity, number>;
  const probes = await db.selectFrom('member_cluster_probes').select(['is_answering', 'last_seen']).execute();
  for (const { is_answering: isAnswering, last_seen: lastSeen } of probes) {
    clusters[connectivityOf({ isAnswering, lastSeen }, now, staleAfterMs)] += 1;
  }
  return { contexts, clusters };
}
