import { openClusterAccess } from '../kubernetes/cluster-access.ts';
import type { ClusterClient } from '../kubernetes/cluster-client.ts';
import { createClusterClient } from '../kubernetes/cluster-client.ts';
import { ABSENT } from '../kubernetes/statuses.ts';
import { clusterPaths } from './cluster-paths.ts';
import { type JobObject, LABELS, MUSTERS_OWN, type PodObject } from './objects.ts';
import { readAll } from './read-jobs.ts';

/** What a removal of Muster looks at in a cluster, beside the Jobs that it ends. */
export interface Leftovers {
  /** Names of all Jobs of sessions, and of those whose pods are still there. */
  jobNames(): Promise<string[]>;
  /** Asks a Deployment to have no pods; answers how many it has. One that is not there has none. */
  scaleDown(namespace: string, deployment: string): Promise<number>;
}

/** Leftovers in the namespace of the Jobs; `kubeconfig` as for the runner. */
export function openLeftovers(namespace: string, kubeconfig: string | null): Leftovers {
  const client = createClusterClient(openClusterAccess(kubeconfig));
  const paths = clusterPaths(namespace);
  return {
    async jobNames() {
      const names = new Set<string>();
      await readAll<JobObject>(client, paths.jobs, MUSTERS_OWN, ({ metadata }) => names.add(metadata.name));
      await readAll<PodObject>(client, paths.pods, MUSTERS_OWN, ({ metadata }) => {
        const job = metadata.labels?.[LABELS.job];
        if (job !== undefined) names.add(job);
      });
      return [...names].sort();
    },
    scaleDown: (space, deployment) => scaleDown(client, space, deployment),
  };
}

async function scaleDown(client: ClusterClient, namespace: string, deployment: string): Promise<number> {
  const { status, body } = await client.ask<{ status?: { replicas?: number } }>({
    method: 'PATCH',
    path: `/apis/apps/v1/namespaces/${namespace}/deployments/${deployment}/scale`,
    body: { spec: { replicas: 0 } },
    contentType: 'application/merge-patch+json',
    expected: [ABSENT],
  });
  return status === ABSENT ? 0 : (body.status?.replicas ?? 0);
}
