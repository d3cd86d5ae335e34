/** Clusters as they are shown. */
import type { Acting } from '../../domain/access/acting.ts';
import { connectivityOf } from '../../domain/deployments/connectivity.ts';
import { type ClusterRef, clusterName, parseClusterName } from '../../domain/deployments/naming.ts';
import type { ClusterView, PlainRecord } from '../../domain/deployments/schema.ts';
import { musterError } from '../../domain/errors.ts';
import { insertAuditRow } from '../../store/audit/audit.ts';
import type { Db } from '../../store/connection/database.ts';
import { listLabelled } from '../../store/deployments/cluster-labels.ts';
import {
  type ClusterRow,
  findCluster,
  findKubeconfig,
  listClusters,
  listClustersOf,
} from '../../store/deployments/clusters.ts';
import type { Seal } from '../sealing/seal.ts';
import { placeOf } from './cluster-seal.ts';
import { getProvider } from './providers.ts';
import { clusterNotFound } from './put-cluster.ts';

export interface ReadDependencies {
  db: Db;
  clusterSeal: Seal;
  staleAfterMs: number;
  clock(): Date;
}

/** Returns the metadata of a cluster. Throws `not_found`. */
export async function getClusterRecord({ db }: Pick<ReadDependencies, 'db'>, ref: ClusterRef): Promise<PlainRecord> {
  const row = await findCluster(db, ref);
  if (row === null) throw clusterNotFound(ref);
  return { metadata: row.metadata };
}

/**
 * Returns the kubeconfig as it came, and records who has read it.
 * Throws `not_found`, `secret_unreadable`.
 */
export async function readKubeconfigFile(
  { db, clusterSeal }: ReadDependencies,
  by: Acting,
  ref: ClusterRef,
): Promise<PlainRecord & { file: Buffer }> {
  const found = await findKubeconfig(db, ref);
  if (found === null) throw clusterNotFound(ref);
  const file = await clusterSeal.open(found.kubeconfig, placeOf(ref));
  await insertAuditRow(db, { actor: by.actor, action: 'read', kind: 'kubeconfig', name: clusterName(ref) });
  return { metadata: found.metadata, file };
}

/** Returns the clusters of a provider by name. Throws `not_found`. */
export async function clustersOf(deps: Pick<ReadDependencies, 'db'>, provider: string): Promise<PlainRecord[]> {
  await getProvider(deps, provider);
  return (await listClustersOf(deps.db, provider)).map((metadata) => ({ metadata }));
}

/** Returns the names of a provider's clusters with a label. Throws `not_found`. */
export async function clustersWithLabel(
  deps: Pick<ReadDependencies, 'db'>,
  provider: string,
  label: string,
): Promise<string[]> {
  await getProvider(deps, provider);
  return await listLabelled(deps.db, provider, label);
}

/** Returns a page of all clusters and whether there are more. Throws `bad_request` for a place that is none. */
export async function pageOfClusters(
  deps: ReadDependencies,
  after: string,
  limit: number,
): Promise<{ clusters: ClusterView[]; more: boolean }> {
  const rows = await listClusters(deps.db, after === '' ? null : nameOf(after), limit + 1);
  return { clusters: rows.slice(0, limit).map((row) => viewOf(deps, row)), more: rows.length > limit };
}

/** Returns a cluster by `<provider>+<cluster>`. Throws `bad_request`, `not_found`. */
export async function getCluster(deps: ReadDependencies, name: string): Promise<ClusterView> {
  const ref = nameOf(name);
  const row = await findCluster(deps.db, ref);
  if (row === null) throw clusterNotFound(ref);
  return viewOf(deps, row);
}

function nameOf(text: string): ClusterRef {
  const ref = parseClusterName(text);
  if (ref !== null) return ref;
  throw musterError(
    'bad_request',
    `'${text.slice(0, 200)}' is no cluster: it must be <provider>+<cluster>, with + sent as %2B`,
  );
}

function viewOf({ clock, staleAfterMs }: ReadDependencies, row: ClusterRow): ClusterView {
  const probed = { isAnswering: row.is_answering, lastSeen: row.last_seen };
  return {
    provider: row.provider,
    name: row.name,
    description: row.metadata.description,
    labels: row.labels,
    deployments: Number(row.deployments),
    server: row.server,
    connectivity: connectivityOf(probed, clock(), staleAfterMs),
    last_seen: row.last_seen?.toISOString() ?? null,
    version: row.version,
    credential_ends: row.credential_ends?.toISOString() ?? null,
    credential_revision: Number(row.credential_revision),
    reason: row.reason,
    message: row.message,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    updated_by: row.actor,
  };
}
