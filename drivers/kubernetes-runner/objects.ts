/** Kubernetes objects as the cluster writes them, with just the fields that are read here; times are ISO texts. */

export interface Metadata {
  name: string;
  uid?: string;
  resourceVersion?: string;
  /** Counts what was asked of the object: changes of its `spec`, and its deletion. */
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: { uid: string; controller?: boolean }[];
}

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export interface JobObject {
  metadata: Metadata;
  spec?: { suspend?: boolean };
  status?: {
    active?: number;
    failed?: number;
    succeeded?: number;
    conditions?: Condition[];
  };
}

export interface ContainerStatus {
  name: string;
  ready?: boolean;
  state?: {
    waiting?: { reason?: string; message?: string };
    running?: object;
    terminated?: { reason?: string; message?: string; exitCode: number };
  };
}

export interface PodObject {
  metadata: Metadata;
  spec?: {
    nodeName?: string;
    nodeSelector?: Record<string, string>;
    tolerations?: { key?: string; operator?: string; value?: string; effect?: string }[];
    initContainers?: ContainerSpec[];
    containers?: ContainerSpec[];
  };
  status?: {
    phase?: string;
    /** The generation that its node has taken notice of. */
    observedGeneration?: number;
    reason?: string;
    message?: string;
    conditions?: Condition[];
    initContainerStatuses?: ContainerStatus[];
    containerStatuses?: ContainerStatus[];
  };
}

interface ContainerSpec {
  name: string;
  resources?: { requests?: Record<string, string> };
}

export interface NodeObject {
  kind?: string;
  metadata: Metadata;
  spec?: { unschedulable?: boolean; taints?: { key: string; value?: string; effect: string }[] };
  status?: { allocatable?: Record<string, string>; conditions?: Condition[] };
}

/** What a part of the cluster says of an object. */
export interface EventObject {
  metadata: Metadata;
  /** Normal or Warning. */
  type?: string;
  reason?: string;
  message?: string;
  /** When it was said last; null of those who write `eventTime`. */
  lastTimestamp?: string | null;
  eventTime?: string | null;
}

export interface ListObject<T> {
  metadata?: { resourceVersion?: string; continue?: string };
  items?: T[];
}

/** `app.kubernetes.io/name` of all Jobs that run a session, whoever made them (cfs-flows 1.3). */
export const RUNNER_NAME = 'cray-cfs-aee';

export const LABELS = {
  name: 'app.kubernetes.io/name',
  managedBy: 'app.kubernetes.io/managed-by',
  /** Id of the session. */
  session: 'muster/session-id',
  /** Set when what the Job left was stored; nobody watches it any more. */
  released: 'muster/released',
  /** Set by Kubernetes on the pods of a Job. */
  job: 'batch.kubernetes.io/job-name',
} as const;

export const ANNOTATIONS = {
  /** On a pod: the version of its Job's Secret that it was told of. */
  secret: 'muster/secret-version',
} as const;

/** Keeps Job and pod until their result was read. */
export const FINALIZER = 'muster/result';

/** Selects the Jobs and pods of Muster's sessions. */
export const MUSTERS_OWN = `${LABELS.name}=${RUNNER_NAME},${LABELS.managedBy}=muster,${LABELS.session}`;

/** Of those the ones that somebody may still wait for. */
export const UNRELEASED = `${MUSTERS_OWN},!${LABELS.released}`;

/** Whether Muster made the object for that session, or for any when none is named: others may give theirs any name. */
export function isMadeFor({ labels }: Metadata, sessionId?: string): boolean {
  const session = labels?.[LABELS.session] ?? '';
  return labels?.[LABELS.managedBy] === 'muster' && session !== '' && session === (sessionId ?? session);
}

/** The condition of that type that holds, or null. */
export function holding(conditions: Condition[] | undefined, type: string): Condition | null {
  return conditions?.find((condition) => condition.type === type && condition.status === 'True') ?? null;
}
