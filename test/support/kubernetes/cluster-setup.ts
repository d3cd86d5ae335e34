import globalSetup, { type LevelOfTests } from '../stack/global-setup.ts';
import clusterTeardown from './cluster-teardown.ts';
import { takeCluster } from './take-cluster.ts';

/** Once per run of the cluster's tests: a Postgres, the cluster, and in it the images of this checkout. */
export default async function clusterSetup(run: unknown, level: LevelOfTests): Promise<void> {
  await globalSetup(run, level);
  const scope = globalThis as { endTestCluster?: () => Promise<void> };
  try {
    scope.endTestCluster = await takeCluster();
  } catch (error) {
    // No tear-down follows a set-up that failed.
    await clusterTeardown();
    throw error;
  }
}
