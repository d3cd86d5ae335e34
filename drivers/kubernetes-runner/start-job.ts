import type { JobSpec } from '../../domain/sessions/cluster-job.ts';
import type { ClusterClient } from './cluster-client.ts';
import type { ClusterPaths } from './cluster-paths.ts';
import { jobManifest } from './job-manifest.ts';
import { holding, type JobObject, LABELS } from './objects.ts';
import type { RunnerSettings } from './runner-settings.ts';
import { encoded } from './secret-values.ts';
import { ABSENT, CONFLICT } from './statuses.ts';

const MERGE = 'application/merge-patch+json';

/**
 * Makes a session's Job and Secret and lets the Job run. The order makes each step repeatable and lets nothing leak: the Job
 * comes first, suspended; its Secret is owned by it, so it goes with the Job; only then does the Job run. A Job that runs,
 * has ended or is being deleted stays as it is.
 */
export async function startJob(
  client: ClusterClient,
  paths: ClusterPaths,
  settings: RunnerSettings,
  spec: JobSpec,
  signal: AbortSignal,
): Promise<void> {
  const job = await ensureJob(client, paths, settings, spec);
  if (job.spec?.suspend !== true || job.metadata.deletionTimestamp !== undefined || hasEnded(job)) return;
  signal.throwIfAborted();
  await ensureSecret(client, paths, spec, job);
  signal.throwIfAborted();
  await client.ask({
    method: 'PATCH',
    path: paths.job(spec.name),
    // The uid: never another Job that came under the same name.
    body: { metadata: { uid: job.metadata.uid }, spec: { suspend: false } },
    contentType: MERGE,
    expected: [ABSENT, CONFLICT],
  });
}

async function ensureJob(
  client: ClusterClient,
  paths: ClusterPaths,
  settings: RunnerSettings,
  spec: JobSpec,
): Promise<JobObject> {
  for (;;) {
    const made = await client.ask<JobObject>({
      method: 'POST',
      path: paths.jobs,
      body: jobManifest(spec, settings),
      expected: [CONFLICT],
    });
    if (made.status !== CONFLICT) return made.body;
    const there = await client.ask<JobObject>({ method: 'GET', path: paths.job(spec.name), expected: [ABSENT] });
    if (there.status !== ABSENT) return there.body;
  }
}

/** The Secret of exactly this Job: one that a predecessor of the same name has left is replaced. */
async function ensureSecret(
  client: ClusterClient,
  paths: ClusterPaths,
  spec: JobSpec,
  { metadata: { uid = '' } }: JobObject,
): Promise<void> {
  const body = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: spec.name,
      labels: { [LABELS.managedBy]: 'muster', [LABELS.session]: spec.sessionId },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: spec.name, uid }],
    },
    type: 'Opaque',
    data: encoded(spec.secret),
  };
  const secret = true;
  for (;;) {
    const made = await client.ask({ method: 'POST', path: paths.secrets, body, expected: [CONFLICT], secret });
    if (made.status !== CONFLICT) return;
    const path = paths.secret(spec.name);
    const put = await client.ask({ method: 'PUT', path, body, expected: [ABSENT, CONFLICT], secret });
    if (put.status < 400) return;
  }
}

function hasEnded({ status }: JobObject): boolean {
  return holding(status?.conditions, 'Complete') !== null || holding(status?.conditions, 'Failed') !== null;
}
