import type { NodeObject, PodObject } from './objects.ts';
import { isNotReady } from './scheduling.ts';

/**
 * Why nobody knows whether the containers of a deleted pod have stopped: its node is away, or is there and has not stopped them.
 * `nodes` null: they are not readable. A node that has just died is called ready for 40 s more, and a Role of one namespace cannot
 * ask about it; but one that is there takes notice of a deletion at once, which shows on the pod itself.
 */
export function whyUnverified(pod: PodObject, nodes: readonly NodeObject[] | null): string {
  const { nodeName = '' } = pod.spec ?? {};
  const node = nodes?.find(({ metadata }) => metadata.name === nodeName);
  const isAway = nodes !== null && (node === undefined || isNotReady(node));
  return isAway || !(hasTakenNotice(pod) ?? nodes !== null)
    ? 'node not ready'
    : `node ${nodeName} has not ended its containers`;
}

/** Whether the node has seen the pod as it stands, deletion and all; null: clusters before Kubernetes 1.34 do not tell by themselves. */
export function hasTakenNotice({ metadata, status }: PodObject): boolean | null {
  const { generation } = metadata;
  const { observedGeneration } = status ?? {};
  return generation === undefined || observedGeneration === undefined ? null : observedGeneration >= generation;
}
