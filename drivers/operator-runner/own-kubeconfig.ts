/** Returns the text of a kubeconfig with the credentials of this process: its kubeconfig, or the service account of its pod. */
export async function ownKubeconfig(): Promise<string> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  config.loadFromDefault();
  return config.exportConfig();
}
