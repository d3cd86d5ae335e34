/** Why a workload is not ready, in words: what its first failing pod says. */
import { someOf } from '../some-of.ts';
import { cleanText } from './answer-class.ts';
import { at, hasMembers, listAt, type Members, membersOf, textAt } from './members.ts';
import { byName } from './naming.ts';
import { readinessOf } from './readiness.ts';

export interface Why {
  reason: string;
  message: string;
}

/** Kinds whose pods are asked. */
export const WORKLOADS: readonly string[] = ['Pod', 'Deployment', 'DaemonSet', 'StatefulSet', 'Job'];

/** A container that waits for these has not begun yet. */
const BEGINNING = ['ContainerCreating', 'PodInitializing'];

/**
 * Returns why a workload is not ready; null where neither its pods nor its conditions say anything.
 * @param pods those of the same AppContext and app
 */
export function whyNotReady(workload: Members, pods: readonly Members[]): Why | null {
  const own = workload.kind === 'Pod' ? [workload] : pods.filter((pod) => isOwn(workload, pod));
  const byPodName = own.toSorted((one, other) => byName(nameOf(one), nameOf(other)));
  for (const pod of byPodName) {
    const why = whyOfPod(pod);
    if (why !== null) return why;
  }
  return own.length > 0 ? null : whyOfConditions(workload);
}

function isOwn(workload: Members, pod: Members): boolean {
  const sameNamespace = textAt(pod, 'metadata', 'namespace') === textAt(workload, 'metadata', 'namespace');
  return sameNamespace && selects(at(workload, 'spec', 'selector'), membersOf(at(pod, 'metadata', 'labels')));
}

/** A selector without any demand selects nothing here. */
function selects(selector: unknown, labels: Members): boolean {
  const wanted = Object.entries(membersOf(at(selector, 'matchLabels')));
  const expressions = listAt(selector, 'matchExpressions');
  if (wanted.length + expressions.length === 0) return false;
  const fits = (expression: unknown) => {
    const key = textAt(expression, 'key');
    const isThere = Object.hasOwn(labels, key);
    const isNamed = isThere && listAt(expression, 'values').includes(labels[key]);
    const answers: Readonly<Record<string, boolean>> = {
      In: isNamed,
      NotIn: !isNamed,
      Exists: isThere,
      DoesNotExist: !isThere,
    };
    return answers[textAt(expression, 'operator')] ?? false;
  };
  return wanted.every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value) && expressions.every(fits);
}

function whyOfPod(pod: Members): Why | null {
  if (readinessOf('', 'Pod', pod) === 'Ready') return null;
  const scheduled = listAt(pod, 'status', 'conditions').find((condition) => at(condition, 'type') === 'PodScheduled');
  if (textAt(scheduled, 'status') === 'False') {
    const said = cleanText(textAt(scheduled, 'message'));
    return {
      reason: cleanText(textAt(scheduled, 'reason')) || 'Unschedulable',
      message: cut(`pod ${nameOf(pod)}: ${said}`),
    };
  }
  const containers = [...listAt(pod, 'status', 'initContainerStatuses'), ...listAt(pod, 'status', 'containerStatuses')];
  const looks = [waits, endedWrongly, runsUnready];
  for (const look of looks) {
    for (const container of containers) {
      const reason = look(container);
      if (reason !== null) return { reason, message: sentence(pod, container, reason) };
    }
  }
  return null;
}

function waits(container: unknown): string | null {
  const reason = cleanText(textAt(container, 'state', 'waiting', 'reason'));
  return reason === '' || BEGINNING.includes(reason) ? null : reason;
}

function endedWrongly(container: unknown): string | null {
  const ended = at(container, 'state', 'terminated');
  if (!hasMembers(ended) || ended.exitCode === 0) return null;
  return cleanText(textAt(ended, 'reason')) || 'Error';
}

function runsUnready(container: unknown): string | null {
  return hasMembers(at(container, 'state', 'running')) && at(container, 'ready') === false ? 'NotReady' : null;
}

/** Returns `pod store-0, container db: CrashLoopBackOff, 4 restarts, last ended with 137 (OOMKilled)`. */
function sentence(pod: Members, container: unknown, reason: string): string {
  const restarts = at(container, 'restartCount');
  const parts = [`pod ${nameOf(pod)}, container ${cleanText(textAt(container, 'name'))}: ${reason}`];
  if (typeof restarts === 'number' && restarts > 0) parts.push(`${restarts} restart${restarts === 1 ? '' : 's'}`);
  const last = [at(container, 'lastState', 'terminated'), at(container, 'state', 'terminated')].find(hasMembers);
  if (last !== undefined && typeof last.exitCode === 'number') {
    const why = cleanText(textAt(last, 'reason'));
    parts.push(`last ended with ${last.exitCode}${why === '' ? '' : ` (${why})`}`);
  }
  return cut(someOf(parts));
}

/** A workload without pods may say what keeps them from being made. */
function whyOfConditions(workload: Members): Why | null {
  const conditions = listAt(workload, 'status', 'conditions');
  const failure = conditions.find((each) => at(each, 'type') === 'ReplicaFailure' && at(each, 'status') === 'True');
  const told = failure ?? conditions.find((each) => textAt(each, 'status') === 'False');
  if (told === undefined) return null;
  const reason = cleanText(textAt(told, 'reason')) || cleanText(textAt(told, 'type'));
  return { reason, message: cut(cleanText(textAt(told, 'message'))) };
}

function nameOf(object: Members): string {
  return cleanText(textAt(object, 'metadata', 'name'));
}

function cut(text: string): string {
  return cleanText(text);
}
