/** Install order of kinds; kinds that are not named come last. */
import { byName } from './naming.ts';

export const INSTALL_ORDER: readonly string[] = [
  'Namespace',
  'ResourceQuota',
  'LimitRange',
  'Secret',
  'ConfigMap',
  'StorageClass',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'ServiceAccount',
  'CustomResourceDefinition',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
  'Service',
  'DaemonSet',
  'Pod',
  'ReplicationController',
  'ReplicaSet',
  'Deployment',
  'StatefulSet',
  'Job',
  'CronJob',
  'Ingress',
  'APIService',
];

/** Returns the manifests in install order; those of one kind by file, then by document. */
export function inInstallOrder<M extends { kind: string; path: string; document: number }>(
  manifests: readonly M[],
): M[] {
  return manifests.toSorted(
    (one, other) =>
      place(one.kind) - place(other.kind) || byName(one.path, other.path) || one.document - other.document,
  );
}

function place(kind: string): number {
  const at = INSTALL_ORDER.indexOf(kind);
  return at === -1 ? INSTALL_ORDER.length : at;
}
