/** Secrets of the cluster in `namespace`. The client of Kubernetes is large, so it is loaded where it is used only. */
export async function kubernetesSecrets(namespace: string) {
  const { openKubernetesSecrets } = await import('./kubernetes-secrets.ts');
  return openKubernetesSecrets({ namespace });
}
