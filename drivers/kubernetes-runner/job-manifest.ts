import type { JobSpec } from '../../domain/sessions/cluster/cluster-job.ts';
import { FINALIZER, LABELS, RUNNER_NAME } from './objects.ts';
import { containerNames, podContainers } from './pod-containers.ts';
import { podVolumes } from './pod-volumes.ts';
import { GRACE_SECONDS, isRestricted, RUNNER_UID, type RunnerSettings } from './runner-settings.ts';

/** Kubernetes counts the time after an end in 32 bits: 68 years, s. */
const TTL_MAX = 2 ** 31 - 1;
/** Its Job controller counts the time until a deadline in 64 bits of nanoseconds: 292 years, s. */
const DEADLINE_MAX = 9_223_372_036;
/** As long as CFS makes a label's value; Kubernetes takes 63. */
const LABEL_MAX = 60;

/**
 * A text as the value of a label: cut to 60 characters, whatever Kubernetes does not take as `_`, and nothing but letters and
 * digits at its ends. Legal names of sessions and configurations stay as they are, but for the cut.
 */
export function labelValue(text: string): string {
  return text
    .slice(0, LABEL_MAX)
    .replace(/[^A-Za-z0-9._-]/g, '_')
    .replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '');
}

/**
 * The Job of a session as it is created: suspended, until its Secret is there (cfs-flows 1.3). Its name is the session's job,
 * its labels are on Job and pod, and a finalizer on both keeps them until their result was read.
 */
export function jobManifest(spec: JobSpec, settings: RunnerSettings) {
  const labels = jobLabels(spec);
  const restricted = isRestricted(spec.profile);
  const { serviceAccount } = settings;
  const withToken = !restricted && serviceAccount !== null;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: spec.name, namespace: settings.namespace, labels, finalizers: [FINALIZER] },
    spec: {
      suspend: true,
      backoffLimit: 0,
      ...(spec.ttlSeconds === null ? {} : { ttlSecondsAfterFinished: Math.min(spec.ttlSeconds, TTL_MAX) }),
      ...(spec.deadlineSeconds === null ? {} : { activeDeadlineSeconds: Math.min(spec.deadlineSeconds, DEADLINE_MAX) }),
      template: {
        metadata: { labels, finalizers: [FINALIZER] },
        spec: {
          restartPolicy: 'Never',
          terminationGracePeriodSeconds: GRACE_SECONDS,
          enableServiceLinks: false,
          automountServiceAccountToken: withToken,
          ...(serviceAccount === null ? {} : { serviceAccountName: serviceAccount }),
          ...(Object.keys(settings.nodeSelector).length === 0 ? {} : { nodeSelector: settings.nodeSelector }),
          ...(settings.tolerations.length === 0 ? {} : { tolerations: settings.tolerations }),
          ...(restricted ? { securityContext: RESTRICTED } : {}),
          ...podContainers(spec, settings),
          volumes: podVolumes(spec, settings, containerNames(spec.image)),
        },
      },
    },
  };
}

const RESTRICTED = {
  runAsNonRoot: true,
  runAsUser: RUNNER_UID,
  runAsGroup: RUNNER_UID,
  fsGroup: RUNNER_UID,
  seccompProfile: { type: 'RuntimeDefault' },
} as const;

function jobLabels({ sessionId, sessionName, configurationName }: JobSpec): Record<string, string> {
  return {
    cfsession: labelValue(sessionName),
    aee: labelValue(sessionName),
    configuration: labelValue(configurationName),
    cfsversion: 'v3',
    [LABELS.name]: RUNNER_NAME,
    [LABELS.managedBy]: 'muster',
    [LABELS.session]: sessionId,
  };
}
