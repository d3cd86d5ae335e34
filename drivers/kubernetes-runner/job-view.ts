import type { ContainerState, JobView } from '../../domain/sessions/cluster/cluster-job.ts';
import {
  type ContainerStatus,
  type EventObject,
  holding,
  type JobObject,
  LABELS,
  type NodeObject,
  type PodObject,
} from './objects.ts';
import { isOver, troubleOf } from './pod-trouble.ts';

/** What is said of a Job that is not there; pods of it may have outlived it. */
export function goneView(name: string, pods: readonly PodObject[] = []): JobView {
  const pod = latestOf(pods);
  return {
    name,
    sessionId: '',
    phase: 'gone',
    reason: '',
    message: '',
    containers: pod === null ? [] : containersOf(pod),
    trouble: null,
  };
}

/**
 * What is to be said of a Job: from it, from its pods and, where they matter and may be read, from nodes and events. With several pods
 * (there is one; Kubernetes promises no more than "at least") the latest counts.
 */
export function jobView(
  job: JobObject,
  pods: readonly PodObject[],
  nodes: readonly NodeObject[] | null,
  events: readonly EventObject[] | null = null,
): JobView {
  const { metadata, status } = job;
  const pod = latestOf(pods);
  const failed = holding(status?.conditions, 'Failed');
  const phase = phaseOf(job, pod);
  return {
    name: metadata.name,
    sessionId: metadata.labels?.[LABELS.session] ?? '',
    phase,
    reason: failed?.reason ?? '',
    message: failed?.message ?? '',
    containers: pod === null ? [] : containersOf(pod),
    trouble: phase === 'complete' ? null : troubleOf(job, pod, nodes, events),
  };
}

/** The pod that was made last, or null. */
export function latestOf(pods: readonly PodObject[]): PodObject | null {
  const born = ({ metadata }: PodObject) => metadata.creationTimestamp ?? '';
  return pods.reduce<PodObject | null>((last, pod) => (last === null || born(pod) >= born(last) ? pod : last), null);
}

/**
 * A Job that failed before it was deleted has failed; one that was deleted first fails by that, so it is being deleted. Its
 * success stands however it goes. Kubernetes counts in whole seconds: in doubt the deletion came first. A pod that has succeeded is
 * the success of its Job, which says so itself up to a second later, when Kubernetes counts its pods.
 */
function phaseOf({ metadata, spec, status }: JobObject, pod: PodObject | null): JobView['phase'] {
  if (holding(status?.conditions, 'Complete') !== null) return 'complete';
  const failed = holding(status?.conditions, 'Failed');
  const { deletionTimestamp } = metadata;
  if (failed !== null && (deletionTimestamp === undefined || (failed.lastTransitionTime ?? '') < deletionTimestamp)) {
    return 'failed';
  }
  if (deletionTimestamp !== undefined) return 'deleting';
  if (failed === null && pod?.status?.phase === 'Succeeded') return 'complete';
  if (spec?.suspend === true) return 'suspended';
  return pod !== null && hasBegun(pod) ? 'running' : 'waiting';
}

function hasBegun(pod: PodObject): boolean {
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  return isOver(pod) || statuses.some(({ state }) => state?.running !== undefined || state?.terminated !== undefined);
}

/** In the order in which the pod has them; those of which nothing is known yet wait. */
function containersOf({ spec, status }: PodObject): ContainerState[] {
  const known = new Map(
    [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].map((one) => [one.name, one]),
  );
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map(({ name }) =>
    containerState(known.get(name) ?? { name }),
  );
}

function containerState({ name, state }: ContainerStatus): ContainerState {
  const said = state?.terminated ?? state?.waiting;
  return {
    name,
    state: state?.terminated ? 'terminated' : state?.running ? 'running' : 'waiting',
    reason: said?.reason ?? '',
    message: said?.message ?? '',
    exitCode: state?.terminated?.exitCode ?? null,
  };
}
