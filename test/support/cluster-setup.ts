import clusterTeardown from './cluster-teardown.ts';
import globalSetup from './global-setup.ts';
import { takeCluster } from './take-cluster.ts';

/** Once per run of the cluster's tests: a Postgres, the cluster, and in it the images of this checkout. */
export default async function clusterSetup(): Promise<void> {
  await globalSetup();
  const scope = globalThis as { endTestCluster?: () => Promise<void> };
  try {
    scope.endTestCluster = await takeCluster();
  } catch (error) {
    // No tear-down follows a set-up that failed.
    await clusterTeardown();
    throw error;
  }
}
