/** Whether a live object does what it is there for. */
import { at, listAt, type Members, numberAt, textAt } from './members.ts';

export const READY_STATUSES = ['Ready', 'NotReady', 'Unknown'] as const;
export type ReadyStatus = (typeof READY_STATUSES)[number];

type Rule = (object: Members) => boolean;

const RULES: Readonly<Record<string, Rule>> = {
  '/Pod': (object) => conditionOf(object, 'Ready') === 'True' || textAt(object, 'status', 'phase') === 'Succeeded',
  'apps/Deployment': isDeploymentReady,
  'apps/DaemonSet': isDaemonSetReady,
  'apps/StatefulSet': isStatefulSetReady,
  'batch/Job': (object) =>
    numberAt(object, ['status', 'succeeded']) >= numberAt(object, ['spec', 'completions'], 1) &&
    numberAt(object, ['status', 'failed']) <= numberAt(object, ['spec', 'backoffLimit'], 6),
  '/Service': isServiceReady,
  '/PersistentVolumeClaim': (object) => textAt(object, 'status', 'phase') === 'Bound',
  'apiextensions.k8s.io/CustomResourceDefinition': (object) =>
    conditionOf(object, 'Established') === 'True' || conditionOf(object, 'NamesAccepted') === 'False',
};

/** Kinds with a rule of their own, `<group>/<kind>`. */
export const RULED_KINDS: readonly string[] = Object.keys(RULES);
/** Names of members without which an object of another kind is ready when it is there. */
export const UNREADY_WORDS = ['deletionTimestamp', 'conditions'] as const;

/** Returns whether a live object is ready. An object that is being deleted never is. */
export function readinessOf(group: string, kind: string, object: Members): 'Ready' | 'NotReady' {
  if (isBeingDeleted(object)) return 'NotReady';
  const rule = RULES[`${group}/${kind}`] ?? byConditions;
  return rule(object) ? 'Ready' : 'NotReady';
}

export function isBeingDeleted(object: Members): boolean {
  return textAt(object, 'metadata', 'deletionTimestamp') !== '';
}

/** Returns the status of a condition; empty where there is none of that type. */
export function conditionOf(object: Members, type: string): string {
  const found = listAt(object, 'status', 'conditions').find((condition) => at(condition, 'type') === type);
  return textAt(found, 'status');
}

/** A kind that says neither Ready nor Available is ready when it is there. */
function byConditions(object: Members): boolean {
  const said = [conditionOf(object, 'Ready'), conditionOf(object, 'Available')].filter((status) => status !== '');
  return said.length === 0 || said.includes('True');
}

function isDeploymentReady(object: Members): boolean {
  const replicas = numberAt(object, ['spec', 'replicas'], 1);
  const mayLack = countOf(at(object, 'spec', 'strategy', 'rollingUpdate', 'maxUnavailable'), replicas, Math.floor, 0);
  return (
    isObserved(object) &&
    at(object, 'spec', 'paused') !== true &&
    numberAt(object, ['status', 'updatedReplicas']) === replicas &&
    numberAt(object, ['status', 'availableReplicas']) >= replicas - mayLack
  );
}

function isDaemonSetReady(object: Members): boolean {
  const strategy = textAt(object, 'spec', 'updateStrategy', 'type');
  if (strategy !== '' && strategy !== 'RollingUpdate') return true;
  const desired = numberAt(object, ['status', 'desiredNumberScheduled']);
  const mayLack = countOf(
    at(object, 'spec', 'updateStrategy', 'rollingUpdate', 'maxUnavailable'),
    desired,
    Math.ceil,
    1,
  );
  return (
    isObserved(object) &&
    numberAt(object, ['status', 'updatedNumberScheduled']) === desired &&
    numberAt(object, ['status', 'numberReady']) >= desired - mayLack
  );
}

function isStatefulSetReady(object: Members): boolean {
  const strategy = textAt(object, 'spec', 'updateStrategy', 'type');
  if (strategy !== '' && strategy !== 'RollingUpdate') return true;
  const replicas = numberAt(object, ['spec', 'replicas'], 1);
  const partition = numberAt(object, ['spec', 'updateStrategy', 'rollingUpdate', 'partition']);
  return (
    isObserved(object) &&
    numberAt(object, ['status', 'updatedReplicas']) >= replicas - partition &&
    numberAt(object, ['status', 'readyReplicas']) === replicas
  );
}

function isServiceReady(object: Members): boolean {
  const type = textAt(object, 'spec', 'type');
  if (type === 'ExternalName') return true;
  if (textAt(object, 'spec', 'clusterIP') === '') return false;
  if (type !== 'LoadBalancer') return true;
  return (
    listAt(object, 'status', 'loadBalancer', 'ingress').length > 0 || listAt(object, 'spec', 'externalIPs').length > 0
  );
}

/** What the controller says is about the object as it is now. Without a status it has said nothing yet. */
function isObserved(object: Members): boolean {
  const generation = numberAt(object, ['metadata', 'generation']);
  return numberAt(object, ['status', 'observedGeneration'], -1) >= generation;
}

/** Returns a number, or a percentage of `whole` that is rounded. */
function countOf(value: unknown, whole: number, round: (part: number) => number, otherwise: number): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  const percent = typeof value === 'string' ? /^([0-9]{1,3})%$/.exec(value)?.[1] : undefined;
  return percent === undefined ? otherwise : round((whole * Number(percent)) / 100);
}
