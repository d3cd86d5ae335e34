/** The kubeconfig by which a run reaches the cluster: through the proxy, as itself, and in no other way. */
import { type OwnerText, writeOwner } from './owner-text.ts';

export interface KubeconfigInput {
  /** Port of the proxy on this machine. */
  port: number;
  /** Certificate of the proxy's own CA, PEM. */
  ca: string;
  owner: OwnerText;
  /** Password of the run. */
  password: string;
}

const CLUSTER = 'proxy-server';

/**
 * Returns the text of a kubeconfig; it is JSON, which every reader of YAML takes. kubectl and the Python client both send name and
 * password of the user entry by https. A default namespace is not set: playbooks name it.
 */
export function runKubeconfig({ port, ca, owner, password }: KubeconfigInput): string {
  const user = `admin/${CLUSTER}`;
  const context = `${owner.namespace}/${CLUSTER}`;
  const cluster = { server: `https://127.0.0.1:${port}`, 'certificate-authority-data': btoa(ca) };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: CLUSTER, cluster }],
    users: [{ name: user, user: { username: writeOwner(owner), password } }],
    contexts: [{ name: context, context: { cluster: CLUSTER, user } }],
    'current-context': context,
    preferences: {},
  });
}
