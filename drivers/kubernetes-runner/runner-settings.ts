import type { RunnerProfile } from '../../domain/sessions/cluster/cluster-job.ts';

/** A toleration as a pod has it. */
export interface Toleration {
  key?: string | undefined;
  operator?: 'Exists' | 'Equal' | undefined;
  value?: string | undefined;
  effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute' | undefined;
  tolerationSeconds?: number | undefined;
}

/** What all Jobs of an installation have in common. A namespace belongs to one installation alone. */
export interface RunnerSettings {
  namespace: string;
  /** Path of a kubeconfig. Null: KUBECONFIG, `~/.kube/config`, then the service account of the pod. */
  kubeconfig: string | null;
  /** Image of the container `ansible`, and that of the steps around it. */
  ansibleImage: string;
  utilImage: string;
  pullPolicy: 'Always' | 'IfNotPresent' | 'Never';
  /** Of the container `ansible`; the others have none (cfs-flows 1.3). */
  requests: Record<string, string>;
  limits: Record<string, string>;
  nodeSelector: Record<string, string>;
  tolerations: readonly Toleration[];
  /** Null: the namespace's default. Its token is mounted in profile `compatible` only, and only when it is named here. */
  serviceAccount: string | null;
  /** Base URL at which pods reach the ingest port. */
  ingestUrl: string;
  /** Base URL of the API for a runner that records components itself. */
  apiUrl: string | null;
  /** Whether containers wait for a service mesh's proxy. */
  sidecarWait: boolean;
  /** Whether a pod keeps a process that has imported Ansible, for its layers; default: it does. */
  warm?: boolean | undefined;
  /** Room of `/inventory`, and where it is: the node's disk (''), or its memory. */
  workspace: { size: string; medium: '' | 'Memory' };
}

/**
 * Seconds between TERM and KILL, whoever ends a pod: all is over within ten. A node does not shorten a time that has begun, so
 * what somebody else deletes must not have a longer one.
 */
export const GRACE_SECONDS = 6;

/** User and group of Muster's own images (profile `restricted`); their passwd names it. */
export const RUNNER_UID = 1000;

/** What a profile lets containers do. */
export function isRestricted(profile: RunnerProfile): boolean {
  return profile === 'restricted';
}
