import { createContextActivities } from '../../activities/deployments/activities.ts';
import { clusterAddressRules } from '../../config/cluster-addresses.ts';
import { openClusterSeal, openContentSeals } from '../../control/deployments/cluster-seal.ts';
import { createClusterTurns } from '../../control/deployments/cluster-turns.ts';
import { createCallCounts, keepCounts } from '../../control/deployments/count-calls.ts';
import { createEventSweep } from '../../control/deployments/forget-events.ts';
import { keepProbing } from '../../control/deployments/probe-clusters.ts';
import { createRemovalSweep } from '../../control/deployments/remove-deployment.ts';
import { createContextSweep } from '../../control/deployments/tell-context.ts';
import { createCredentialSweep } from '../../control/deployments/tell-others.ts';
import { wakeWaiting } from '../../control/deployments/wake-waiting.ts';
import { keepWatching } from '../../control/deployments/watch-clusters.ts';
import { readMaxRetries } from '../../domain/deployments/retry.ts';
import { DEPLOYMENTS_QUEUE } from '../../domain/engine/task-queues.ts';
import { openAddresses } from '../../drivers/member-clusters/addresses.ts';
import { openKubeconfigs } from '../../drivers/member-clusters/kubeconfig.ts';
import { openMemberClusters } from '../../drivers/member-clusters/member-clusters.ts';
import type { WorkerLane } from '../shared/open-shared.ts';

/** Groups that are worked on at once in a worker. More would wait for connections to the database, which sessions use too. */
const PLACES = 50;

/** Member clusters, each asked in turn whether it is there, and watched while something is there; what goes to them and comes off them. */
export const deployments: WorkerLane = ({ env, db, site, log, clock, client, tell }) => {
  const addresses = openAddresses(clusterAddressRules(env));
  const callMs = env.MUSTER_DEPLOY_CALL_TIMEOUT_SECONDS * 1000;
  const counts = createCallCounts();
  const deps = {
    ...{ db, log, clock, staleAfterMs: env.MUSTER_DEPLOY_STALE_AFTER_SECONDS * 1000 },
    clusterSeal: openClusterSeal(db, site.secrets),
    readKubeconfig: openKubeconfigs(addresses),
    memberClusters: openMemberClusters({ addresses, callMs, onAnswer: counts.count }),
  };
  const wake = (waiting: Parameters<typeof wakeWaiting>[1]) => wakeWaiting({ client, log }, waiting);
  const sweepContexts = createContextSweep({ db, tell, clock });
  const sweepRemovals = createRemovalSweep({ db });
  const sweepEvents = createEventSweep({ db, clock });
  const sweepCredentials = createCredentialSweep({ db, clock });
  const activities = createContextActivities({
    ...deps,
    manifestSeal: openContentSeals(db, site.secrets).manifestSeal,
    retry: {
      firstSeconds: env.MUSTER_DEPLOY_RETRY_SECONDS,
      backoff: env.MUSTER_DEPLOY_RETRY_BACKOFF,
      maxSeconds: env.MUSTER_DEPLOY_RETRY_MAX_SECONDS,
      maxRetries: readMaxRetries(env.MUSTER_DEPLOY_MAX_RETRIES),
    },
    callMs,
    wake,
    turns: createClusterTurns(env.MUSTER_DEPLOY_CLUSTER_CONCURRENCY),
    beside: env.MUSTER_DEPLOY_GROUP_PARALLELISM,
    deletionWaitMs: env.MUSTER_DEPLOY_DELETION_WAIT_SECONDS * 1000,
    parallel: env.MUSTER_DEPLOY_MAX_PARALLEL_CLUSTERS,
    queue: DEPLOYMENTS_QUEUE,
  });
  const { applyGroup, deleteGroup } = activities;
  return {
    // All of them: work of before the queue of its own still comes here, also from an older release beside this one.
    main: activities,
    own: { queue: DEPLOYMENTS_QUEUE, activities: { applyGroup, deleteGroup }, places: PLACES },
    sweep: async (signal) => {
      await sweepContexts(signal);
      await sweepRemovals(signal);
      await sweepCredentials();
      await sweepEvents(signal);
    },
    background: [
      () => keepProbing({ ...deps, wake }),
      () => keepWatching({ ...deps, random: Math.random }),
      () => keepCounts({ db, log, counts }),
    ],
  };
};
