import { musterError } from '../../domain/errors.ts';
import type { JobSpec, JobTrouble } from '../../domain/sessions/cluster/cluster-job.ts';
import { type ClusterClient, type ClusterRequest, quotaWords } from '../kubernetes/cluster-client.ts';
import { ABSENT, CONFLICT } from '../kubernetes/statuses.ts';
import type { ClusterPaths } from './cluster-paths.ts';
import { jobManifest } from './job-manifest.ts';
import { holding, isMadeFor, type JobObject, LABELS, type Metadata } from './objects.ts';
import { readJob } from './read-jobs.ts';
import type { RunnerSettings } from './runner-settings.ts';
import { encoded } from './secret-values.ts';
import { troubleOfQuota } from './silent-trouble.ts';

const MERGE = 'application/merge-patch+json';

/**
 * Makes a session's Job and Secret and lets the Job run. The order makes each step repeatable and lets nothing leak: the Job
 * comes first, suspended; its Secret is owned by it, so it goes with the Job; only then does the Job run. A Job that runs,
 * has ended or is being deleted stays as it is. Answers what keeps it from that where a quota has no room for one of them, else null.
 */
export async function startJob(
  client: ClusterClient,
  paths: ClusterPaths,
  settings: RunnerSettings,
  spec: JobSpec,
  signal: AbortSignal,
): Promise<JobTrouble | null> {
  try {
    const job = await ensureJob(client, paths, settings, spec);
    if (job.spec?.suspend !== true || job.metadata.deletionTimestamp !== undefined || hasEnded(job)) return null;
    signal.throwIfAborted();
    await ensureSecret(client, paths, settings, spec, job);
    signal.throwIfAborted();
    await client.ask({
      method: 'PATCH',
      path: paths.job(spec.name),
      // The uid: never another Job that came under the same name.
      body: { metadata: { uid: job.metadata.uid }, spec: { suspend: false } },
      contentType: MERGE,
      expected: [ABSENT, CONFLICT],
    });
    return null;
  } catch (error) {
    const words = quotaWords(error);
    if (words === null) throw error;
    return troubleOfQuota(words);
  }
}

async function ensureJob(
  client: ClusterClient,
  paths: ClusterPaths,
  settings: RunnerSettings,
  spec: JobSpec,
): Promise<JobObject> {
  for (;;) {
    const { made, refusal } = await make<JobObject>(client, { path: paths.jobs, body: jobManifest(spec, settings) });
    if (made !== null) return made;
    const there = await readJob(client, paths, spec.name);
    if (there !== null) {
      checkOwn('Job', there.metadata, settings, spec);
      return there;
    }
    if (refusal !== null) throw refusal;
  }
}

/** The Secret of exactly this Job: one that a predecessor of the same name and session has left is replaced. */
async function ensureSecret(
  client: ClusterClient,
  paths: ClusterPaths,
  settings: RunnerSettings,
  spec: JobSpec,
  { metadata: { uid = '' } }: JobObject,
): Promise<void> {
  const metadata = {
    name: spec.name,
    labels: { [LABELS.managedBy]: 'muster', [LABELS.session]: spec.sessionId },
    ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: spec.name, uid }],
  };
  const body = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data: encoded(spec.secret) };
  const path = paths.secret(spec.name);
  const secret = true;
  for (;;) {
    const { made, refusal } = await make(client, { path: paths.secrets, body, secret });
    if (made !== null) return;
    const there = await client.ask<{ metadata: Metadata }>({ method: 'GET', path, expected: [ABSENT], secret });
    if (there.status === ABSENT) {
      if (refusal !== null) throw refusal;
      continue;
    }
    checkOwn('Secret', there.body.metadata, settings, spec);
    const { resourceVersion } = there.body.metadata;
    const put = await client.ask({
      method: 'PUT',
      path,
      // The version: never one that somebody else has made under the same name meanwhile.
      body: { ...body, metadata: { ...metadata, resourceVersion } },
      expected: [ABSENT, CONFLICT],
      secret,
    });
    if (put.status < 400) return;
  }
}

/**
 * Answers what was made; null: there may be one of that name. `refusal`: a quota has no room for one more, which Kubernetes
 * finds before it looks for the name.
 */
async function make<T>(
  client: ClusterClient,
  request: Omit<ClusterRequest, 'method' | 'expected'>,
): Promise<{ made: T | null; refusal: unknown }> {
  try {
    const { status, body } = await client.ask<T>({ ...request, method: 'POST', expected: [CONFLICT] });
    return { made: status === CONFLICT ? null : body, refusal: null };
  } catch (error) {
    if (quotaWords(error) === null) throw error;
    return { made: null, refusal: error };
  }
}

/** Throws `cluster_refused` for an object that somebody else has made under the Job's name. */
function checkOwn(kind: string, metadata: Metadata, { namespace }: RunnerSettings, { name, sessionId }: JobSpec): void {
  if (isMadeFor(metadata, sessionId)) return;
  const found = `there is a ${kind} ${name} in namespace ${namespace} that is not this session's: it was left alone`;
  throw musterError('cluster_refused', `${found}. Delete it, or start a new session, whose Job has another name`);
}

function hasEnded({ status }: JobObject): boolean {
  return holding(status?.conditions, 'Complete') !== null || holding(status?.conditions, 'Failed') !== null;
}
