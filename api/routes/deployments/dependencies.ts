import { openClusterSeal, openContentSeals } from '../../../control/deployments/cluster-seal.ts';
import type { ApiShared } from '../../shared/api-shared.ts';

export type DeploymentApi = ReturnType<typeof deploymentApi>;

/** Returns what the routes of deployments work with. */
export function deploymentApi(shared: ApiShared) {
  const { staleAfterMs } = shared.settings.deployments;
  const { db, site, temporal } = shared;
  return {
    ...shared,
    ...{ staleAfterMs, tell: temporal.tell, clusterSeal: openClusterSeal(db, site.secrets) },
    ...openContentSeals(db, site.secrets),
  };
}
