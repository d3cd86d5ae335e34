import type { JobTrouble } from '../../domain/sessions/cluster/cluster-job.ts';
import {
  type ContainerStatus,
  type EventObject,
  holding,
  type JobObject,
  type NodeObject,
  type PodObject,
} from './objects.ts';
import { isNotReady, schedulingKind, untoldOf } from './scheduling.ts';
import { isSilent, troubleOfEvents } from './silent-trouble.ts';
import { hasTakenNotice } from './unverified.ts';

type Code = JobTrouble['code'];

/** Kubernetes' words for a container that cannot begin. */
const NOT_BEGINNING: Record<string, Code> = {
  ErrImagePull: 'image_pull_failed',
  ImagePullBackOff: 'image_pull_failed',
  ErrImageNeverPull: 'image_pull_failed',
  ImageInspectError: 'image_pull_failed',
  RegistryUnavailable: 'image_pull_failed',
  SignatureValidationFailed: 'image_pull_failed',
  InvalidImageName: 'container_config_invalid',
  CreateContainerConfigError: 'container_config_invalid',
  CreateContainerError: 'container_config_invalid',
  RunContainerError: 'container_config_invalid',
};

/** Its words for one that could not be started; with `restartPolicy: Never` it has ended by that. */
const NOT_STARTED = ['StartError', 'ContainerCannotRun'];
/** The first process had no room before it could become the program. */
const NO_ROOM = /OOM-killed/;

/** Kubernetes' words for a pod that was ended from outside (reason of the pod, or of its condition DisruptionTarget). */
const ENDED: Record<string, Code> = {
  Evicted: 'evicted',
  TerminationByKubelet: 'evicted',
  EvictionByEvictionAPI: 'evicted',
  PreemptionByScheduler: 'evicted',
  Preempting: 'evicted',
  DeletionByPodGC: 'node_lost',
  NodeLost: 'node_lost',
  NodeShutdown: 'node_lost',
  Terminated: 'node_lost',
  Shutdown: 'node_lost',
};
/** Its word for a pod that a taint (NoExecute) has driven away: somebody's, or that of a node which says nothing any more. */
const DRIVEN_AWAY = 'DeletionByTaintManager';
/** A node that took the pod and then refused it (OutOfmemory, NodeAffinity ...). */
const REFUSED = /^(OutOf|NodeAffinity$|UnexpectedAdmissionError$|NodePorts$)/;

/**
 * What keeps a Job's pod from running, or has ended it: the first that holds, from what is certain to what may pass. `nodes` null: they are
 * not readable; `events` of a Job that waits in silence.
 */
export function troubleOf(
  job: JobObject,
  pod: PodObject | null,
  nodes: readonly NodeObject[] | null,
  events: readonly EventObject[] | null,
): JobTrouble | null {
  const failed = holding(job.status?.conditions, 'Failed') ?? holding(job.status?.conditions, 'FailureTarget');
  if (failed?.reason === 'DeadlineExceeded') return over('deadline_exceeded', failed.message ?? 'it ran too long');
  const byHand = job.metadata.deletionTimestamp !== undefined;
  const silent = events !== null && isSilent(job, pod) ? troubleOfEvents(events) : null;
  if (pod === null) return failed !== null && !byHand ? over('pod_deleted', 'its pod was deleted') : silent;
  return (
    endOf(pod, nodes) ??
    memoryOf(pod) ??
    startOf(pod) ??
    // Kubernetes deletes the pods of a Job that is over its time before it says so: a deletion counts once the Job has failed by it,
    // or the pod has ended, of which a Job that is suspended, or is to have no pods, does not fail.
    (pod.metadata.deletionTimestamp !== undefined && (failed !== null || isOver(pod)) && !byHand
      ? deletionOf(job, pod, nodes)
      : null) ??
    beginningOf(pod) ??
    placeOf(pod, nodes) ??
    nodeOf(pod, nodes) ??
    silent
  );
}

function over(code: Code, message: string): JobTrouble {
  return { code, message, kind: 'over' };
}

function endOf(pod: PodObject, nodes: readonly NodeObject[] | null): JobTrouble | null {
  const { status } = pod;
  const disruption = holding(status?.conditions, 'DisruptionTarget');
  const driven: Code = nodeOf(pod, nodes) === null ? 'evicted' : 'node_lost';
  for (const said of [disruption, status]) {
    const code = said?.reason === DRIVEN_AWAY ? driven : ENDED[said?.reason ?? ''];
    if (code !== undefined) return over(code, words(said?.reason, said?.message));
  }
  if (status?.phase === 'Failed' && REFUSED.test(status.reason ?? '')) {
    return over('unschedulable', words(status.reason, status.message));
  }
  return null;
}

/** A container that ended by it: one that still exits 0 has only lost a process that it could do without. */
function memoryOf(pod: PodObject): JobTrouble | null {
  const killed = statusesOf(pod).find(
    ({ state }) => state?.terminated?.reason === 'OOMKilled' && state.terminated.exitCode !== 0,
  );
  if (killed === undefined) return null;
  return over('out_of_memory', `container ${killed.name} used more memory than its limit (OOMKilled)`);
}

/** A container whose program is missing, or may not be run. */
function startOf(pod: PodObject): JobTrouble | null {
  for (const { name, state } of statusesOf(pod)) {
    const { reason = '', message = '' } = state?.terminated ?? {};
    if (!NOT_STARTED.includes(reason)) continue;
    return over(
      NO_ROOM.test(message) ? 'out_of_memory' : 'container_config_invalid',
      `container ${name}: ${words(reason, message)}`,
    );
  }
  return null;
}

/** A pod that is being deleted, though its Job is not: by hand, unless its node is away and could not tell. */
function deletionOf({ spec }: JobObject, pod: PodObject, nodes: readonly NodeObject[] | null): JobTrouble {
  const why = spec?.suspend === true ? ', its Job was suspended' : '';
  const away = nodeOf(pod, nodes) === null ? '' : ', its node is not ready';
  return over('pod_deleted', `pod ${pod.metadata.name} was deleted${why}${away}`);
}

function beginningOf(pod: PodObject): JobTrouble | null {
  for (const { name, state } of statusesOf(pod)) {
    const waiting = state?.waiting;
    const code = NOT_BEGINNING[waiting?.reason ?? ''];
    if (code === undefined) continue;
    return { code, message: `container ${name}: ${words(waiting?.reason, waiting?.message)}`, kind: 'impossible' };
  }
  return null;
}

function placeOf(pod: PodObject, nodes: readonly NodeObject[] | null): JobTrouble | null {
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status !== 'False' || pod.spec?.nodeName !== undefined) return null;
  const message = scheduled.message ?? '';
  if (scheduled.reason !== 'Unschedulable') return null;
  const told = `${message}${untoldOf(message, nodes)}`;
  return { code: 'unschedulable', message: told, kind: schedulingKind(pod, message, nodes) };
}

/** A pod whose node has gone quiet: the node says so, is gone itself, or, where nodes are not readable, Kubernetes has given up the pod. */
function nodeOf(pod: PodObject, nodes: readonly NodeObject[] | null): JobTrouble | null {
  const name = pod.spec?.nodeName;
  if (name === undefined || isOver(pod)) return null;
  const node = nodes?.find(({ metadata }) => metadata.name === name);
  const away = nodes === null ? isGivenUp(pod) : node === undefined || isNotReady(node);
  return away ? { code: 'node_lost', message: `node ${name} is not ready`, kind: 'waiting' } : null;
}

/**
 * Whether a taint has driven the pod away and its node does not take notice of that. Nothing on a pod tells of a silent node sooner:
 * Kubernetes calls it not ready then, which it is anyway from the end of its first container on.
 */
function isGivenUp(pod: PodObject): boolean {
  const isDriven = holding(pod.status?.conditions, 'DisruptionTarget')?.reason === DRIVEN_AWAY;
  return isDriven && pod.metadata.deletionTimestamp !== undefined && hasTakenNotice(pod) === false;
}

/** Which nodes have a say in what is said of the pod: all of them while it has none, then its own, in the end none. */
export function nodesThatMatter(pod: PodObject): 'all' | { name: string } | null {
  if (isOver(pod)) return null;
  const name = pod.spec?.nodeName;
  if (name !== undefined) return { name };
  return placeOf(pod, []) === null ? null : 'all';
}

/** Whether none of its containers runs any more. */
export function isOver({ status }: PodObject): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

function statusesOf({ status }: PodObject): ContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}

function words(reason: string | undefined, message: string | undefined): string {
  return [reason, message].filter((word) => word !== undefined && word !== '').join(': ');
}
