/** Seals of this lane: kubeconfigs, archives, and values of Secrets in manifests. */
import { type ClusterRef, clusterName } from '../../domain/deployments/naming.ts';
import type { SecretStore } from '../../domain/secrets/ports.ts';
import { DEPLOYMENT_KEY_SECRET } from '../../domain/secrets/secret-uses.ts';
import type { Db } from '../../store/connection/database.ts';
import { openSeal, type Seal } from '../sealing/seal.ts';

/** Returns the seal of kubeconfigs. */
export function openClusterSeal(db: Db, secrets: Pick<SecretStore, 'get' | 'put'>): Seal {
  return openSeal(db, secrets, { secret: DEPLOYMENT_KEY_SECRET, use: 'kubeconfig' });
}

/** Returns the seal of archives, and that of the values of Secrets in their manifests: each has a key of its own. */
export function openContentSeals(
  db: Db,
  secrets: Pick<SecretStore, 'get' | 'put'>,
): { archiveSeal: Seal; manifestSeal: Seal } {
  const seal = (use: string) => openSeal(db, secrets, { secret: DEPLOYMENT_KEY_SECRET, use });
  return { archiveSeal: seal('archive'), manifestSeal: seal('Secret') };
}

/** Returns where a cluster's kubeconfig is kept: it opens in no other row. */
export function placeOf(ref: ClusterRef): string {
  return `cluster ${clusterName(ref)}`;
}
