import type { ClusterJobs } from '../../domain/sessions/cluster/cluster-job.ts';
import { openClusterAccess } from '../kubernetes/cluster-access.ts';
import { type ClusterClient, createClusterClient } from '../kubernetes/cluster-client.ts';
import { clusterPaths } from './cluster-paths.ts';
import { endJob, releaseJob } from './end-job.ts';
import { openEvents } from './events.ts';
import { createJobWatch, type WatchPatience } from './job-watch.ts';
import { openNodes } from './nodes.ts';
import { followLog } from './pod-log.ts';
import { readView, readViews } from './read-jobs.ts';
import type { RunnerSettings } from './runner-settings.ts';
import { startJob } from './start-job.ts';
import { updateSecret } from './update-secret.ts';

/**
 * Sessions as Jobs of a Kubernetes cluster. Nothing is asked of the cluster before the first call; what is needed of it are the
 * rights to make, read, watch, patch and delete jobs, to read, watch, patch and delete pods, to read their logs, and to make, read,
 * replace and patch secrets, in one namespace. Nodes and events are read where that is allowed.
 */
export function openClusterJobs(settings: RunnerSettings): ClusterJobs {
  const access = openClusterAccess(settings.kubeconfig);
  // Loads the library ahead of the first session, which would wait half a second for it. What is wrong shows with a request.
  access.read().catch(() => undefined);
  return createClusterJobs(createClusterClient(access), settings);
}

/** The same on a client that is there; `patience`: another one than usual, of its watch. */
export function createClusterJobs(
  client: ClusterClient,
  settings: RunnerSettings,
  patience?: WatchPatience,
): ClusterJobs {
  const paths = clusterPaths(settings.namespace);
  const nodes = openNodes(client);
  const watch = createJobWatch(client, paths, { nodes, events: openEvents(client, paths) }, patience);
  return {
    start: (spec, signal) => startJob(client, paths, settings, spec, signal),
    view: (name) => readView(client, paths, nodes, name),
    follow: watch.follow,
    end: (name, patienceMs, sessionId) => endJob(client, paths, nodes, { name, sessionId }, patienceMs),
    release: (name, sessionId) => releaseJob(client, paths, { name, sessionId }),
    updateSecret: (name, change) => updateSecret(client, paths, name, change),
    followLog: (name, container, reading, take, signal) =>
      followLog(client, paths, { name, container, ...reading }, take, signal),
    list: () => readViews(client, paths),
  };
}
