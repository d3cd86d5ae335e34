import type { JobView } from '../../domain/sessions/cluster/cluster-job.ts';
import type { ClusterClient } from '../kubernetes/cluster-client.ts';
import { ABSENT, GONE } from '../kubernetes/statuses.ts';
import type { ClusterPaths } from './cluster-paths.ts';
import { goneView, jobView, latestOf } from './job-view.ts';
import type { Nodes } from './nodes.ts';
import { type JobObject, LABELS, type ListObject, MUSTERS_OWN, type PodObject, UNRELEASED } from './objects.ts';

/** Objects of one piece of a list. */
const PAGE = 100;
/** What the value of a label is made of; anything else would select something else. */
const LABEL_VALUE = /^[A-Za-z0-9._-]+$/;

/** The Job, or null when there is none. */
export async function readJob(client: ClusterClient, paths: ClusterPaths, name: string): Promise<JobObject | null> {
  const answer = await client.ask<JobObject>({ method: 'GET', path: paths.job(name), expected: [ABSENT] });
  return answer.status === ABSENT ? null : answer.body;
}

/** The pods that Kubernetes made for a Job of Muster's, whether that is still there or not. */
export async function readPods(client: ClusterClient, paths: ClusterPaths, name: string): Promise<PodObject[]> {
  if (!LABEL_VALUE.test(name)) return [];
  const query = { labelSelector: `${MUSTERS_OWN},${LABELS.job}=${name}` };
  return (await client.ask<ListObject<PodObject>>({ method: 'GET', path: paths.pods, query })).body.items ?? [];
}

/** What is to be said of the Job now. */
export async function readView(
  client: ClusterClient,
  paths: ClusterPaths,
  nodes: Nodes,
  name: string,
): Promise<JobView> {
  // The Job first: its pods were there before it could say that it has ended.
  const job = await readJob(client, paths, name);
  if (job === null) return goneView(name);
  const pods = await readPods(client, paths, name);
  return jobView(job, pods, await nodes.for(latestOf(pods)));
}

/** Hands over all objects that a selector names in pieces; answers the version of the list. */
export async function readAll<T>(
  client: ClusterClient,
  path: string,
  labelSelector: string,
  take: (item: T) => void,
): Promise<string> {
  let next: string | undefined;
  for (;;) {
    const query = { labelSelector, limit: String(PAGE), ...(next === undefined ? {} : { continue: next }) };
    const answer = await client.ask<ListObject<T>>({ method: 'GET', path, query, expected: [GONE] });
    if (answer.status === GONE) {
      // It took too long between two pieces; what was handed over is handed over again.
      next = undefined;
      continue;
    }
    for (const item of answer.body.items ?? []) take(item);
    next = answer.body.metadata?.continue || undefined;
    if (next === undefined) return answer.body.metadata?.resourceVersion ?? '';
  }
}

/**
 * Every Job of Muster's, without its pods, in order of names; also those that are gone and have left a pod that Muster still holds: a
 * controller may make one after its Job was ended.
 */
export async function readViews(client: ClusterClient, paths: ClusterPaths): Promise<JobView[]> {
  const views = new Map<string, JobView>();
  await readAll<JobObject>(client, paths.jobs, MUSTERS_OWN, (job) => {
    views.set(job.metadata.name, { ...jobView(job, [], null), trouble: null });
  });
  await readAll<PodObject>(client, paths.pods, UNRELEASED, ({ metadata }) => {
    const name = metadata.labels?.[LABELS.job];
    if (name !== undefined && !views.has(name)) views.set(name, goneView(name));
  });
  return [...views.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
