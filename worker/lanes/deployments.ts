import { clusterAddressRules } from '../../config/cluster-addresses.ts';
import { openClusterSeal } from '../../control/deployments/cluster-seal.ts';
import { keepProbing } from '../../control/deployments/probe-clusters.ts';
import { openAddresses } from '../../drivers/member-clusters/addresses.ts';
import { openKubeconfigs } from '../../drivers/member-clusters/kubeconfig.ts';
import { openMemberClusters } from '../../drivers/member-clusters/member-clusters.ts';
import type { WorkerLane } from '../shared/open-shared.ts';

/** Member clusters: each is asked in turn whether it is there. */
export const deployments: WorkerLane = ({ env, db, site, log, clock }) => {
  const addresses = openAddresses(clusterAddressRules(env));
  const deps = {
    ...{ db, log, clock },
    clusterSeal: openClusterSeal(db, site.secrets),
    readKubeconfig: openKubeconfigs(addresses),
    memberClusters: openMemberClusters({ addresses, callMs: env.MUSTER_DEPLOY_CALL_TIMEOUT_SECONDS * 1000 }),
  };
  return { background: [() => keepProbing(deps)] };
};
