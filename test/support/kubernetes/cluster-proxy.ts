import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openProxy, type TcpProxy } from '../fakes/tcp-proxy.ts';
import { kubectl } from './dev-cluster.ts';

/** A way to the cluster of the tests that can be cut and frozen. */
export interface ClusterProxy extends TcpProxy {
  /** Path of a kubeconfig that leads through it. */
  kubeconfig: string;
  close(): Promise<void>;
}

interface Kubeconfig {
  clusters: { cluster: { server: string; 'tls-server-name'?: string } }[];
}

/** Opens a way to the cluster, with the rights of an administrator or of `token`. */
export async function openClusterProxy(token?: string): Promise<ClusterProxy> {
  const config = JSON.parse(
    await kubectl(['config', 'view', '--raw', '--flatten', '--minify', '--output', 'json']),
  ) as Kubeconfig & { users: { user: object }[] };
  const [entry] = config.clusters;
  if (entry === undefined) throw new Error('the kubeconfig names no cluster');
  const server = new URL(entry.cluster.server);
  const proxy = await openProxy(`${server.hostname}:${server.port || 443}`);
  entry.cluster = {
    ...entry.cluster,
    server: `https://${proxy.address}`,
    'tls-server-name': 'kubernetes.default.svc',
  };
  if (token !== undefined) for (const one of config.users) one.user = { token };
  const dir = await mkdtemp(join(tmpdir(), 'muster-cluster-proxy-'));
  const kubeconfig = join(dir, 'kubeconfig');
  await writeFile(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  return {
    ...proxy,
    kubeconfig,
    close: async () => {
      proxy.thaw();
      await proxy.cut();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
