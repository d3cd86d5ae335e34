import { setTimeout as delay } from 'node:timers/promises';
import type { JobEnding } from '../../domain/sessions/cluster/cluster-job.ts';
import type { ClusterClient } from '../kubernetes/cluster-client.ts';
import { ABSENT, BAD_REQUEST, CONFLICT, FORBIDDEN, INVALID } from '../kubernetes/statuses.ts';
import type { ClusterPaths } from './cluster-paths.ts';
import { goneView, jobView, latestOf } from './job-view.ts';
import type { Nodes } from './nodes.ts';
import { FINALIZER, isMadeFor, type JobObject, LABELS, type Metadata, type PodObject } from './objects.ts';
import { isOver } from './pod-trouble.ts';
import { readJob, readPods } from './read-jobs.ts';
import { GRACE_SECONDS } from './runner-settings.ts';
import { whyUnverified } from './unverified.ts';

const LOOK_MS = 250;
/** In which the pod of a Job that was just let run may still turn up, ms. */
const LATE_POD_MS = 1_000;

/** A Job by its name, and the session that it was made for; undefined: any of Muster's. */
export interface JobName {
  name: string;
  sessionId?: string | undefined;
}

/**
 * Deletes a Job with its pods and waits, `patienceMs` at most, until none of their containers runs. The pods are deleted as well
 * as the Job: one that somebody has deleted in the background leaves its pods running. Finalizers stay, so every exit code is in the
 * answer. What does not end in time, or may not be deleted, is told as not verified; what is another's is as good as not there.
 */
export async function endJob(
  client: ClusterClient,
  paths: ClusterPaths,
  nodes: Nodes,
  of: JobName,
  patienceMs: number,
): Promise<JobEnding> {
  const { name } = of;
  const begun = Date.now();
  let job = await ownJob(client, paths, of);
  const mayHavePods = job !== null && job.spec?.suspend !== true;
  const refusals = new Set<string>();
  const remove = async (path: string, { uid }: Metadata, options: object) => {
    // The uid: never another that came under the same name.
    const refusal = await deleteObject(client, path, { preconditions: { uid }, ...options });
    if (refusal !== null) refusals.add(refusal);
  };
  if (job !== null) await remove(paths.job(name), job.metadata, { propagationPolicy: 'Foreground' });
  let pods: PodObject[] = [];
  const asked = new Set<string>();
  for (;;) {
    pods = latestKnown(pods, await ownPods(client, paths, of));
    for (const pod of pods) {
      if (isStill(pod) || asked.has(pod.metadata.name)) continue;
      await remove(paths.pod(pod.metadata.name), pod.metadata, { gracePeriodSeconds: GRACE_SECONDS });
      asked.add(pod.metadata.name);
    }
    const passed = Date.now() - begun;
    const mayAppear = mayHavePods && pods.length === 0 && passed < LATE_POD_MS;
    if (pods.every(isStill) && !mayAppear) break;
    if (passed >= patienceMs) break;
    await delay(Math.min(LOOK_MS, patienceMs - passed));
  }
  // By now it has gone with its Job, unless somebody has deleted that without what it owns.
  const secret = await ownSecret(client, paths, of);
  if (secret !== null) await remove(paths.secret(name), secret, {});
  job = (await ownJob(client, paths, of)) ?? job;
  const near = await nodes.for(latestOf(pods));
  const view = job === null ? goneView(name, pods) : jobView(job, pods, near);
  const running = pods.find((pod) => !isStill(pod));
  // What was refused is asked for again by whoever verifies this end.
  if (refusals.size > 0) return { view, unverified: `the cluster refuses: ${[...refusals].join('; ')}` };
  return { view, unverified: running === undefined ? null : whyUnverified(running, near) };
}

/**
 * Lets a Job and its pods go: removes Muster's finalizer, no other, and marks them as done with, so that nobody watches them any
 * more. What is another's is left alone.
 */
export async function releaseJob(client: ClusterClient, paths: ClusterPaths, of: JobName): Promise<void> {
  const pods = await ownPods(client, paths, of);
  for (const { metadata } of pods) await release(client, paths.pod(metadata.name));
  const path = paths.job(of.name);
  const owner = pods.flatMap(({ metadata }) => metadata.ownerReferences ?? []).find(({ controller }) => controller);
  // Its pods say which Job is theirs, so it is not read once more; another of its name is left alone by its uid.
  if (owner !== undefined && (await release(client, path, owner.uid, [INVALID])) !== INVALID) return;
  const job = await ownJob(client, paths, of);
  if (job !== null) await release(client, path, job.metadata.uid);
}

async function release(
  client: ClusterClient,
  path: string,
  uid?: string,
  expected: readonly number[] = [],
): Promise<number> {
  const body = {
    metadata: { uid, labels: { [LABELS.released]: 'true' }, '$deleteFromPrimitiveList/finalizers': [FINALIZER] },
  };
  for (;;) {
    const answer = await client.ask({
      method: 'PATCH',
      path,
      body,
      contentType: 'application/strategic-merge-patch+json',
      expected: [...expected, ABSENT, CONFLICT],
    });
    if (answer.status !== CONFLICT) return answer.status;
    await delay(LOOK_MS);
  }
}

async function ownJob(client: ClusterClient, paths: ClusterPaths, of: JobName): Promise<JobObject | null> {
  const job = await readJob(client, paths, of.name);
  return job !== null && isMadeFor(job.metadata, of.sessionId) ? job : null;
}

async function ownPods(client: ClusterClient, paths: ClusterPaths, of: JobName): Promise<PodObject[]> {
  const pods = await readPods(client, paths, of.name);
  return pods.filter(({ metadata }) => isMadeFor(metadata, of.sessionId));
}

/** Null also for whoever may not read Secrets, as the removal of Muster may not: it is left to go with its Job then. */
async function ownSecret(client: ClusterClient, paths: ClusterPaths, of: JobName): Promise<Metadata | null> {
  const path = paths.secret(of.name);
  const { status, body } = await client.ask<{ metadata: Metadata }>({
    method: 'GET',
    path,
    expected: [ABSENT, FORBIDDEN],
    secret: true,
  });
  return status < 400 && isMadeFor(body.metadata, of.sessionId) ? body.metadata : null;
}

/** What a right, a policy or a webhook answers that keeps Muster from a deletion. */
const REFUSALS = [BAD_REQUEST, FORBIDDEN, INVALID];

/** Answers the cluster's words when it will not do so, else null. */
async function deleteObject(client: ClusterClient, path: string, options: object): Promise<string | null> {
  const { status, body } = await client.ask<{ message?: string }>({
    method: 'DELETE',
    path,
    body: { apiVersion: 'v1', kind: 'DeleteOptions', ...options },
    expected: [...REFUSALS, ABSENT, CONFLICT],
  });
  return REFUSALS.includes(status) ? (body.message ?? `status ${status}`) : null;
}

/** Whether nothing of the pod runs: it has ended, or is being deleted before any node had it. */
function isStill(pod: PodObject): boolean {
  return isOver(pod) || (pod.spec?.nodeName === undefined && pod.metadata.deletionTimestamp !== undefined);
}

/** What was seen of pods, also of those that are gone by now: they ran no longer when they went. */
function latestKnown(before: readonly PodObject[], now: readonly PodObject[]): PodObject[] {
  const names = new Set(now.map(({ metadata }) => metadata.name));
  const gone = before.filter(({ metadata }) => !names.has(metadata.name));
  return [...gone.map((pod) => ({ ...pod, status: { ...pod.status, phase: 'Failed' } })), ...now];
}
