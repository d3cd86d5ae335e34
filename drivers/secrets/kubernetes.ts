import type { ConfigMaps } from '../../domain/secrets/ports.ts';

/** Secrets of the cluster in `namespace`. The client of Kubernetes is large, so it is loaded where it is used only. */
export async function kubernetesSecrets(namespace: string) {
  const { openKubernetesSecrets } = await import('./kubernetes-secrets.ts');
  return openKubernetesSecrets({ namespace });
}

/** ConfigMaps of the cluster; those that are named with no namespace are in `namespace`. */
export async function kubernetesConfigMaps(namespace: string, unnamed: string, shipped: ConfigMaps) {
  const { openKubernetesConfigMaps } = await import('./kubernetes-config-maps.ts');
  return openKubernetesConfigMaps({ namespace, unnamed, shipped });
}
