import { openClusterSeal } from '../../../control/deployments/cluster-seal.ts';
import type { ApiShared } from '../../shared/api-shared.ts';

export type DeploymentApi = ReturnType<typeof deploymentApi>;

/** Returns what the routes of deployments work with. */
export function deploymentApi(shared: ApiShared) {
  const { staleAfterMs } = shared.settings.deployments;
  return { ...shared, staleAfterMs, clusterSeal: openClusterSeal(shared.db, shared.site.secrets) };
}
