/**
 * A session whose layers run in a Kubernetes Job.
 *
 *  1. prepare: pin commits, make the inventory, on any worker with a cluster
 *  2. wait until no other session has its components, if it takes part in that
 *  3. start the Job, and follow it beside everything else: how it ends is stored before Kubernetes may forget it
 *  4. profile `restricted`: each layer is an order to the pod; `compatible`: the pod runs its layers by itself
 *  5. let the pod finish, and wait for the Job's end
 *
 * Images are opened before it, and finished between 4 and 5.
 *
 * Whatever goes wrong after the start of the Job, the Job is ended and that is verified, as far as its node answers.
 */
import { ActivityFailure, condition, patched, proxyActivities } from '@temporalio/workflow';
import type { ClusterActivities, JobEnd, SessionPlan, SessionRef } from '../../../activities/sessions/contract.ts';
import type { PlannedImages } from '../../../activities/sessions/image-contract.ts';
import { CLUSTER_HOST, hostQueueOf } from '../../../domain/engine/task-queues.ts';
import { CLUSTER_PATIENCE } from '../../../domain/sessions/cluster/cluster-wait.ts';
import { finishImages, prepareImages, releaseImages } from '../images/image-steps.ts';
import { type LayerRunner, type LayersEnd, runLayers, waitForLeases } from '../layer-runs.ts';
import { endingOf } from '../session-ending.ts';
import {
  type Ending,
  requestCancel,
  type State,
  show,
  throwIfCancelled,
  unlessCancelled,
  WHEN_IT_HAS_STOPPED,
} from '../session-state.ts';
import { clusterSilence } from './cluster-silence.ts';

const queue = { taskQueue: hostQueueOf(CLUSTER_HOST) } as const;

const { prepareJob, startJob, finishJob } = proxyActivities<ClusterActivities>({
  ...queue,
  // No worker with a cluster: that is a mistake of the installation, which the session's end should tell soon.
  scheduleToStartTimeout: `${CLUSTER_PATIENCE}m`,
  startToCloseTimeout: '10m',
  heartbeatTimeout: '10s',
  cancellationType: WHEN_IT_HAS_STOPPED,
  retry: { initialInterval: '500ms', maximumInterval: '15s', maximumAttempts: 40 },
});

const WATCH = {
  ...queue,
  scheduleToStartTimeout: '24h',
  startToCloseTimeout: '30d',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '500ms', maximumInterval: '10s' },
} as const;

const { watchJob, awaitPlaybooks } = proxyActivities<ClusterActivities>(WATCH);

/** Verified within the 10 s that a cancel may take, where the cluster answers; where it does not, the sweep goes on. */
const { endJob } = proxyActivities<ClusterActivities>({
  ...queue,
  scheduleToCloseTimeout: '3m',
  startToCloseTimeout: '1m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '500ms', maximumInterval: '5s' },
});

/** Why nobody knows whether a Job that could not be ended has stopped. */
const NO_ANSWER = 'the cluster does not answer';

/** After its last layer a pod has this long to end. */
const LAST_WORDS = '10m';

export async function runOnCluster(input: SessionRef, state: State, plan: SessionPlan): Promise<Ending> {
  let ending: Ending;
  try {
    const images = plan.images ? await prepareImages(input, state) : null;
    ending = await runJob(input, state, plan, images);
  } catch (error) {
    ending = endingOf(error, state, clusterSilence);
  }
  return plan.images ? await releaseImages(input, state, ending) : ending;
}

async function runJob(
  input: SessionRef,
  state: State,
  plan: SessionPlan,
  images: PlannedImages | null,
): Promise<Ending> {
  show(state, { step: 'cluster_prepares' });
  const prepared = await unlessCancelled(state, () => prepareJob(input));
  const endsHolds = patched('hold-ends-with-its-pod');
  state.aim = prepared.aim;
  if (prepared.leases) await waitForLeases(input, state);
  throwIfCancelled(state);

  try {
    show(state, { step: 'start_job' });
    await unlessCancelled(state, () => startJob(input));
    let isGone = false;
    const ended = watchJob(input).finally(() => {
      isGone = true;
    });
    ended.catch(() => undefined);
    // Without images such a pod needs nothing of us until it is over.
    if (prepared.drivesItself && images === null) return await untilItEnds(input, state, ended);
    const { drivesItself } = prepared;
    const { ending, exitCode } = drivesItself
      ? await ownLayers(input, state)
      : await runLayers(input, state, plan, { ...orders(input), isGone: () => endsHolds && isGone });
    // Of a pod that reports no host by itself its exit code counts for all images.
    const judgedBy = drivesItself ? exitCode : undefined;
    const finished =
      images === null
        ? ending
        : await unlessDeleted(state, ended, () => finishImages(input, state, images, ending, judgedBy));
    // The layers' own status, as the reference's runner ends with it; what else has failed has none (cfs-flows 3.4, 4.1).
    await finishJob({ ...input, exitCode: finished.succeeded === 'true' ? 0 : exitCode || 1 });
    show(state, { step: 'job_end' });
    return withJobEnd(finished, await untilItEnds(input, state, ended));
  } catch (error) {
    // One that could not be ended in all the time that this has is left to the sweep.
    const isInVain =
      error instanceof ActivityFailure && error.activityType === 'endJob' && patched('ends-its-job-once');
    return withUnverified(endingOf(error, state, clusterSilence), isInVain ? NO_ANSWER : await stopJob(input));
  }
}

/**
 * Makes the images; a Job that is deleted meanwhile, by whomever, is a cancel of that. Nobody asks the pod anything in this time, so
 * that it shows nowhere else.
 */
async function unlessDeleted(state: State, ended: Promise<JobEnd>, making: () => Promise<Ending>): Promise<Ending> {
  let isMade = false;
  const look = ({ reason, message }: JobEnd) => {
    if (!isMade && reason === 'job_deleted') requestCancel(state, message, reason);
  };
  if (patched('deletion-ends-its-images')) ended.then(look, () => undefined);
  try {
    return await making();
  } finally {
    isMade = true;
  }
}

/** The layers of a pod that runs them by itself, for images. */
async function ownLayers(input: SessionRef, state: State): Promise<LayersEnd> {
  show(state, { step: 'pod_layers' });
  const exitCode = await unlessCancelled(state, () => awaitPlaybooks(input));
  const ending: Ending =
    exitCode === 0
      ? { succeeded: 'true', message: 'complete', reason: null }
      : { succeeded: 'false', message: `the playbooks ended with exit status ${exitCode}`, reason: 'layer_failed' };
  return { ending, exitCode };
}

/** Layers as orders to the pod. */
function orders(input: SessionRef): LayerRunner {
  return {
    runLayer: (run, summary) => proxyActivities<ClusterActivities>({ ...WATCH, summary }).runLayer(run),
    endRun: () => endJob(input),
  };
}

/** The Job's own end; a cancel ends the Job first. */
async function untilItEnds(input: SessionRef, state: State, ended: Promise<JobEnd>): Promise<JobEnd> {
  let over = false;
  const settled = ended.finally(() => {
    over = true;
  });
  settled.catch(() => undefined);
  const news = () => over || state.cancel !== null;
  await (state.progress.phase === 'teardown'
    ? condition(news, LAST_WORDS, { summary: 'last words of the Job' })
    : condition(news));
  while (!over) {
    try {
      await endJob(input);
      break;
    } catch (error) {
      // Nobody knows yet how a Job ends whose cluster is away: it may end by itself meanwhile.
      if (!(error instanceof ActivityFailure) || state.cancel !== null || !patched('waits-out-its-cluster'))
        throw error;
      await condition(news, LAST_WORDS, { summary: 'last words of the Job' });
    }
  }
  const end = await settled;
  throwIfCancelled(state);
  if (end.reason !== 'cancelled') return end;
  return { succeeded: 'false', reason: 'runner_failed', message: `its pod did not end by itself: ${end.message}` };
}

/** A session whose layers succeeded fails with its Job all the same (cfs-flows 1.2). */
function withJobEnd(ending: Ending, end: JobEnd): Ending {
  return ending.succeeded === 'true' && end.succeeded !== 'true' ? end : ending;
}

/** Ends the Job of a session that broke off; answers why nobody knows whether it has stopped, or null. */
async function stopJob(input: SessionRef): Promise<string | null> {
  try {
    return (await endJob(input)).unverified;
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return NO_ANSWER;
  }
}

function withUnverified(ending: Ending, unverified: string | null): Ending {
  return unverified === null ? ending : { ...ending, message: `${ending.message}; not verified: ${unverified}` };
}
