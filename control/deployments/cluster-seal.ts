/** Kubeconfigs in their sealed column. */
import { type ClusterRef, clusterName } from '../../domain/deployments/naming.ts';
import type { SecretStore } from '../../domain/secrets/ports.ts';
import { DEPLOYMENT_KEY_SECRET } from '../../domain/secrets/secret-uses.ts';
import type { Db } from '../../store/connection/database.ts';
import { openSeal, type Seal } from '../sealing/seal.ts';

/** Returns the seal of kubeconfigs. */
export function openClusterSeal(db: Db, secrets: Pick<SecretStore, 'get' | 'put'>): Seal {
  return openSeal(db, secrets, { secret: DEPLOYMENT_KEY_SECRET, use: 'kubeconfig' });
}

/** Returns where a cluster's kubeconfig is kept: it opens in no other row. */
export function placeOf(ref: ClusterRef): string {
  return `cluster ${clusterName(ref)}`;
}
