import type { NodeObject, PodObject } from './objects.ts';
import { quantity } from './quantities.ts';

/** Taints that Kubernetes sets by itself for as long as something is the matter with a node. */
const PASSING_TAINT = /^node(\.cloudprovider)?\.kubernetes\.io\//;
/** What the scheduler says of a node that might run the pod once others have gone. */
const BUSY = /\d+ (Insufficient |Too many pods|node\(s\) didn't have free ports)/;
/** ... and of one that is only away for now. */
const AWAY = /untolerated taint\(?s?\)? \{node(\.cloudprovider)?\.kubernetes\.io\/|were unschedulable/;
/** From the patch releases of Kubernetes 1.34 on it does not say which taint it is: the site's, or that of a node which is away. */
const SOME_TAINT = /untolerated taint\(s\)(?! \{)/;
const NO_NODES = /^no nodes available/;

/**
 * Whether a pod that found no node may find one later: `waiting` when cpu, memory or a node are just not free, `impossible`
 * when no node there is will ever do (request, selector, taint). With null for nodes, which may be unreadable, the
 * scheduler's own sentence decides.
 */
export function schedulingKind(
  pod: PodObject,
  message: string,
  nodes: readonly NodeObject[] | null,
): 'waiting' | 'impossible' {
  if (nodes === null) return kindOfMessage(message);
  // A cluster that has none at all may be about to get one.
  if (nodes.length === 0) return 'waiting';
  return nodes.some((node) => mayEverRun(pod, node)) ? 'waiting' : 'impossible';
}

/**
 * What the scheduler's sentence leaves open where nodes are unreadable, and what would tell it, as words to put after the sentence;
 * '' for nothing.
 */
export function untoldOf(message: string, nodes: readonly NodeObject[] | null): string {
  if (nodes !== null || !SOME_TAINT.test(message)) return '';
  return ' (whether these taints pass is not known: Muster cannot read nodes, see runner.readNodes)';
}

/**
 * The sentence begins with a count for each thing that keeps nodes from it, and says at its end for how many pushing others
 * out would not help: when it would help nowhere though all that is missing is room, no node is large enough.
 * Taints that it does not name are taken for those of nodes that are away: a session that waits in vain can be cancelled, one that
 * was given up because a node was started again is lost.
 */
function kindOfMessage(message: string): 'waiting' | 'impossible' {
  if (NO_NODES.test(message) || AWAY.test(message) || SOME_TAINT.test(message)) return 'waiting';
  const [reasons = '', preemption = ''] = message.split(/preemption: /);
  if (!BUSY.test(reasons)) return 'impossible';
  const [, all] = /0\/(\d+) nodes/.exec(preemption) ?? [];
  const [, useless] = /(\d+) Preemption is not helpful/.exec(preemption) ?? [];
  return all !== undefined && all === useless ? 'impossible' : 'waiting';
}

/** Whether the pod would fit on the node if nothing else were there. */
function mayEverRun(pod: PodObject, node: NodeObject): boolean {
  return isSelected(pod, node) && isTolerated(pod, node) && isLargeEnough(pod, node);
}

function isSelected({ spec }: PodObject, { metadata }: NodeObject): boolean {
  return Object.entries(spec?.nodeSelector ?? {}).every(([key, value]) => metadata.labels?.[key] === value);
}

function isTolerated({ spec }: PodObject, node: NodeObject): boolean {
  const tolerations = spec?.tolerations ?? [];
  return (node.spec?.taints ?? [])
    .filter(({ key, effect }) => effect !== 'PreferNoSchedule' && !PASSING_TAINT.test(key))
    .every((taint) =>
      tolerations.some(
        ({ key, operator, value, effect }) =>
          (effect === undefined || effect === '' || effect === taint.effect) &&
          (operator === 'Exists'
            ? key === undefined || key === '' || key === taint.key
            : key === taint.key && (value ?? '') === (taint.value ?? '')),
      ),
    );
}

/** The main containers run beside each other, the first ones one by one before them. */
function isLargeEnough({ spec }: PodObject, { status }: NodeObject): boolean {
  const requested = (containers: { resources?: { requests?: Record<string, string> } }[] = [], resource: string) =>
    containers.map(({ resources }) => quantity(resources?.requests?.[resource] ?? '0'));
  const resources = new Set(
    [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].flatMap((container) =>
      Object.keys(container.resources?.requests ?? {}),
    ),
  );
  return [...resources].every((resource) => {
    const together = requested(spec?.containers, resource).reduce((sum, value) => sum + value, 0);
    const needed = Math.max(together, ...requested(spec?.initContainers, resource));
    return needed <= quantity(status?.allocatable?.[resource] ?? '0');
  });
}

/** Whether the node says that it is not ready, or has not said anything for long. */
export function isNotReady({ status }: NodeObject): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready !== undefined && ready.status !== 'True';
}
