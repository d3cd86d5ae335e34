/** Registers clusters, replaces their credentials, removes them. */
import type { Acting } from '../../domain/access/acting.ts';
import type { NetworkState } from '../../domain/deployments/history.ts';
import { type ClusterRef, clusterName } from '../../domain/deployments/naming.ts';
import { stepOfNetworks } from '../../domain/deployments/network-lifecycle.ts';
import type { ReadKubeconfig } from '../../domain/deployments/ports.ts';
import { clusterPath, networksPath } from '../../domain/deployments/record-path.ts';
import type { Metadata, PlainRecord } from '../../domain/deployments/schema.ts';
import { musterError } from '../../domain/errors.ts';
import type { Db } from '../../store/connection/database.ts';
import { listLabels } from '../../store/deployments/cluster-labels.ts';
import {
  deleteCluster,
  holdCluster,
  insertCluster,
  type NewCluster,
  replaceCluster,
} from '../../store/deployments/clusters.ts';
import { isClusterInUse } from '../../store/deployments/contexts.ts';
import { holdProvider } from '../../store/deployments/providers.ts';
import { deleteRecord, hasBelow } from '../../store/deployments/records.ts';
import type { Seal } from '../sealing/seal.ts';
import { placeOf } from './cluster-seal.ts';
import { providerNotFound } from './providers.ts';
import { standingOf } from './situation.ts';

export interface ClusterDependencies {
  db: Db;
  clusterSeal: Seal;
  readKubeconfig: ReadKubeconfig;
  clock(): Date;
}

export interface GivenCluster {
  metadata: Metadata;
  kubeconfig: Uint8Array;
}

/**
 * Registers a cluster. A cluster that cannot be reached is registered all the same.
 * Throws `not_found` for the provider, `already_exists`, `invalid_kubeconfig`, `cluster_address_not_allowed`.
 */
export async function registerCluster(
  deps: ClusterDependencies,
  by: Acting,
  provider: string,
  given: GivenCluster,
): Promise<PlainRecord> {
  const cluster = await checked(deps, provider, given);
  const written = { actor: by.actor, operation: by.operation ?? null, now: deps.clock() };
  await deps.db.transaction().execute(async (trx) => {
    if (!(await holdProvider(trx, provider, 'share'))) throw providerNotFound(provider);
    if (await insertCluster(trx, cluster, written)) return;
    throw musterError('already_exists', `Cluster '${clusterName(cluster)}' exists already`);
  });
  return { metadata: given.metadata };
}

/**
 * Replaces metadata and credential of a cluster, or registers it. Returns whether it was registered. Running work takes the new credential at
 * its next connection.
 * Throws `bad_request` where the names differ, `not_found` for the provider, `invalid_kubeconfig`, `cluster_address_not_allowed`.
 */
export async function rotateCluster(
  deps: ClusterDependencies,
  by: Acting,
  ref: ClusterRef,
  given: GivenCluster,
): Promise<{ record: PlainRecord; isNew: boolean }> {
  if (given.metadata.name !== ref.cluster) {
    throw musterError(
      'bad_request',
      `The path names cluster '${ref.cluster}', the body '${given.metadata.name}'`,
      'metadata.name',
    );
  }
  const cluster = await checked(deps, ref.provider, given);
  const written = { actor: by.actor, operation: by.operation ?? null, now: deps.clock() };
  const isNew = await deps.db.transaction().execute(async (trx) => {
    if (!(await holdProvider(trx, ref.provider, 'share'))) throw providerNotFound(ref.provider);
    if (await replaceCluster(trx, cluster, written)) return false;
    if (await insertCluster(trx, cluster, written)) return true;
    throw musterError(
      'already_exists',
      `Cluster '${clusterName(cluster)}' was registered at the same moment: try again`,
    );
  });
  return { record: { metadata: given.metadata }, isNew };
}

/**
 * Removes a cluster with its credential and the AppContexts of its network intents. Throws `not_found`, `invalid_state` and `context_busy` for these,
 * `in_use` while another AppContext that has not ended goes to it, and `has_children` while it has labels or other records.
 */
export async function removeCluster({ db }: Pick<ClusterDependencies, 'db'>, ref: ClusterRef): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await holdCluster(trx, ref, 'update'))) throw clusterNotFound(ref);
    stepOfNetworks('delete', await standingOf<NetworkState>(trx, networksPath(ref)));
    if (await isClusterInUse(trx, ref)) {
      throw musterError(
        'in_use',
        `A deployment or logical cloud on cluster '${clusterName(ref)}' has not ended: terminate it first`,
      );
    }
    if ((await listLabels(trx, ref)).length > 0) {
      throw musterError('has_children', `Cluster '${clusterName(ref)}' has labels: delete them first`);
    }
    if (await hasBelow(trx, clusterPath(ref), 'network-intents')) {
      throw musterError('has_children', `Cluster '${clusterName(ref)}' has networks or kv-pairs: delete them first`);
    }
    await deleteRecord(trx, networksPath(ref));
    await deleteCluster(trx, ref);
  });
}

export function clusterNotFound(ref: ClusterRef) {
  return musterError('not_found', `Cluster '${clusterName(ref)}' could not be found`);
}

/** Sealed before the transaction: the key may have to be made, by another connection. */
async function checked(deps: ClusterDependencies, provider: string, given: GivenCluster): Promise<NewCluster> {
  const { metadata, kubeconfig } = given;
  const { credential, endsAt } = await deps.readKubeconfig(kubeconfig);
  const ref = { provider, cluster: metadata.name };
  const sealed = await deps.clusterSeal.seal(kubeconfig, placeOf(ref));
  return { ...ref, metadata, server: credential.server, kubeconfig: sealed, endsAt };
}
